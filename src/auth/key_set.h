// KeySet: many keys by the digests of their secrets, compact and immutable; KeySetBuilder makes one.
// Invariant: records are ordered by digest, each digest once. The cost of find() does not grow with the number of
// keys, nor does it depend on whether there is a match. Threads: a KeySet is read by any.
// Memory: 48 bytes, the name's length + 1, and 1 to 2 bytes of directory for each key; a scope once for all its keys.
#pragma once

#include "base/mapped_allocator.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/time.h"
#include "model/key_row.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::auth {

// Whom keys belong to, by name.
struct Scope {
    std::string tenant;
    std::string team;
    std::string application;
    std::string workload;
    [[nodiscard]] model::KeyScope view() const noexcept { return {tenant, team, application, workload}; }
    friend auto operator<=>(const Scope&, const Scope&) = default;
};

struct KeyRecord {
    static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t dead = 0;

    base::Sha256Digest digest{};
    std::uint32_t expires_s = dead;  // since 1970, the first second in which it no longer works
    std::uint32_t scope = 0;         // index into KeySet::scopes()
    std::uint32_t name = 0;          // where the name begins in the text of its set
    model::PermissionSet permissions;

    [[nodiscard]] bool alive(base::WallTime now) const noexcept;
};
static_assert(sizeof(KeyRecord) == 48);

class KeySet {
public:
    KeySet() = default;  // empty

    // nullptr = no such key. A record that is there may be dead.
    [[nodiscard]] const KeyRecord* find(const base::Sha256Digest& digest) const noexcept;
    [[nodiscard]] std::string_view name_of(const KeyRecord& record) const noexcept;
    [[nodiscard]] const std::vector<Scope>& scopes() const noexcept { return scopes_; }
    [[nodiscard]] std::span<const KeyRecord> records() const noexcept { return records_; }
    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept;  // of memory, roughly

private:
    friend class KeySetBuilder;
    void index();
    [[nodiscard]] std::size_t bucket_of(const base::Sha256Digest& digest) const noexcept;

    std::vector<KeyRecord, base::MappedAllocator<KeyRecord>> records_;
    std::vector<std::uint32_t> starts_;  // of each bucket of leading digest bits, and the end; empty = no records
    unsigned bits_ = 0;                  // how many leading bits choose the bucket
    std::vector<char, base::MappedAllocator<char>> names_;  // one byte of length before each name
    std::vector<Scope> scopes_;
};

enum class Twins : std::uint8_t { last_wins, refused };

class KeySetBuilder {
public:
    // Of two rows with one digest the later one counts. Names longer than 255 bytes are cut; of a revoked row nothing
    // but the digest is kept.
    void add(const model::KeyRow& row);
    // A record of another set, which becomes independent of that set.
    void add(const KeySet& from, const KeyRecord& record);
    // For all keys of two sets, so that large tables are allocated once.
    void reserve(const KeySet& one, const KeySet& other);
    // Errors: too_large (more than a set holds); with Twins::refused invalid_argument, which names the two keys.
    [[nodiscard]] base::Result<KeySet> build(Twins twins = Twins::last_wins) &&;

private:
    struct Hash {
        std::size_t operator()(const model::KeyScope& scope) const noexcept;
    };
    std::uint32_t intern(const model::KeyScope& scope);
    void append(KeyRecord record, std::string_view name, const model::KeyScope& scope);
    base::Status settle_twins(Twins twins);

    KeySet set_;
    std::unordered_multimap<std::size_t, std::uint32_t> scope_of_hash_;  // index into set_.scopes_
    std::uint32_t last_scope_ = 0;
    bool full_ = false;
};

// Both together; where both have a digest, `newer` counts. Dead records of `newer` erase and are not kept.
[[nodiscard]] base::Result<KeySet> merge(const KeySet& older, const KeySet& newer);
// The same, but dead records stay, for a set that goes on to hide records of another.
[[nodiscard]] base::Result<KeySet> overlay(const KeySet& older, const KeySet& newer);

}  // namespace weir::auth
