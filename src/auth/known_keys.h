// KnownKeys: remembers where the keys of the latest callers are, so that the next request of one costs no SHA-256. What
// it knows a secret by is a keyed hash of 128 bits (SipHash-2-4) with a key of this process, which is no use to anybody
// else; secrets themselves are not kept. Only valid keys are remembered: a wrong secret always takes the long way, and
// a hit is still judged by its key's present state (expiry, binding). A new table forgets everything.
// Threads: one worker's.
#pragma once

#include "auth/key_table.h"
#include "base/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::auth {

class KnownKeys {
public:
    KnownKeys();  // with a random key

    // The answer of table->authenticate(). The entry's views live as long as the table.
    [[nodiscard]] std::optional<Entry> authenticate(const std::shared_ptr<const KeyTable>& table,
                                                    std::string_view presented_secret, base::WallTime now);
    // Lets go of the table: one that was replaced must not stay in memory until the next request comes.
    void forget() noexcept;

private:
    static constexpr std::size_t slot_count = 1024;  // callers of one worker at a time; more only cost the hash
    using Tag = std::array<std::uint64_t, 2>;
    struct Slot {
        Tag tag{};
        KeyTable::Place place;  // without a layer: free
    };
    [[nodiscard]] Tag tag_of(std::string_view secret) const noexcept;

    std::array<std::uint8_t, 16> hash_key_{};
    std::shared_ptr<const KeyTable> table_;  // what the places lie in
    std::vector<Slot> slots_;
};

}  // namespace weir::auth
