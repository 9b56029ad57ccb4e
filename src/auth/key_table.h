// KeyTable: which caller a presented secret belongs to. Only SHA-256 digests of secrets are kept.
// Invariant: immutable after build(), so any thread may read; the cost of a look-up does not grow with the number of
// keys. All failures look alike: unknown, expired and empty secrets give the same answer after the same work.
#pragma once

#include "base/result.h"
#include "base/sha256.h"
#include "base/time.h"
#include "model/caller.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::auth {

// What authentication reads comes first, in one cache line: with a million keys each line read is a miss.
struct alignas(64) Entry {
    base::Sha256Digest digest{};
    std::optional<base::WallTime> expires{};  // the first moment at which the key no longer works; nullopt = never
    std::uint32_t tenant = 0;                 // index of the tenant's policy in the owner's tables; opaque here
    std::uint32_t aliases = 0;                // index of the alias allow-list in the owner's tables; opaque here
    model::Caller caller{};
};

class KeyTable {
public:
    KeyTable() = default;  // knows nobody
    // Errors: invalid_argument when two entries have one digest (names both keys), too_large beyond 2^31 entries.
    [[nodiscard]] static base::Result<KeyTable> build(std::vector<Entry> entries);

    // nullptr = not a valid key at `now`. The pointer lives as long as this table.
    [[nodiscard]] const Entry* authenticate(std::string_view presented_secret, base::WallTime now) const;
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
    struct Slot {
        std::uint32_t tag = 0;  // digest bytes 8..11, so that a probe seldom touches a wrong entry
        std::uint32_t entry = 0;  // index + 1; 0 = free
    };
    [[nodiscard]] const Entry* find(const base::Sha256Digest& digest) const noexcept;

    std::vector<Entry> entries_;
    std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

}  // namespace weir::auth
