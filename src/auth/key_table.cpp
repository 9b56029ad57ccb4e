#include "auth/key_table.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace weir::auth {

namespace {

constexpr std::size_t min_slots = 8;

std::uint64_t home_of(const base::Sha256Digest& digest) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, digest.data(), sizeof bits);
    return bits;
}

std::uint32_t tag_of(const base::Sha256Digest& digest) noexcept {
    std::uint32_t bits = 0;
    std::memcpy(&bits, digest.data() + 8, sizeof bits);
    return bits;
}

}  // namespace

base::Result<KeyTable> KeyTable::build(std::vector<Entry> entries) {
    if (entries.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        return base::fail(base::ErrorCode::too_large,
                          fmt::format("{} keys are more than a key table holds", entries.size()));
    KeyTable table;
    table.entries_ = std::move(entries);
    table.slots_.resize(std::bit_ceil(std::max(min_slots, table.entries_.size() * 2)));
    const std::size_t mask = table.slots_.size() - 1;
    for (std::size_t index = 0; index < table.entries_.size(); ++index) {
        const Entry& entry = table.entries_[index];
        if (const Entry* twin = table.find(entry.digest); twin != nullptr)
            return base::fail(
                base::ErrorCode::invalid_argument,
                fmt::format("the keys '{}' of tenant '{}' and '{}' of tenant '{}' have the same secret",
                            twin->caller.key, twin->caller.tenant, entry.caller.key, entry.caller.tenant));
        std::size_t at = home_of(entry.digest) & mask;
        while (table.slots_[at].entry != 0)
            at = (at + 1) & mask;
        table.slots_[at] = {.tag = tag_of(entry.digest), .entry = static_cast<std::uint32_t>(index + 1)};
    }
    return table;
}

const Entry* KeyTable::find(const base::Sha256Digest& digest) const noexcept {
    if (slots_.empty()) return nullptr;
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = tag_of(digest);
    for (std::size_t at = home_of(digest) & mask; slots_[at].entry != 0; at = (at + 1) & mask) {
        if (slots_[at].tag != tag) continue;
        const Entry& entry = entries_[slots_[at].entry - 1];
        if (base::equal_in_constant_time(entry.digest, digest)) return &entry;
    }
    return nullptr;
}

const Entry* KeyTable::authenticate(std::string_view presented_secret, base::WallTime now) const {
    if (presented_secret.empty()) return nullptr;
    const Entry* entry = find(base::sha256(presented_secret));
    const bool valid = entry != nullptr && (!entry->expires.has_value() || now < *entry->expires);
    return valid ? entry : nullptr;
}

}  // namespace weir::auth
