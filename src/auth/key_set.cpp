#include "auth/key_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace weir::auth {

namespace {

constexpr std::size_t max_keys = std::size_t{1} << 31U;
constexpr std::size_t max_name_bytes = 255;

std::uint64_t leading_bits(const base::Sha256Digest& digest) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, digest.data(), sizeof bits);
    if constexpr (std::endian::native == std::endian::little) bits = __builtin_bswap64(bits);
    return bits;
}

// 0 where they are equal; the same few instructions wherever they differ.
std::uint64_t difference(const base::Sha256Digest& a, const base::Sha256Digest& b) noexcept {
    std::uint64_t left[4];
    std::uint64_t right[4];
    std::memcpy(left, a.data(), sizeof left);
    std::memcpy(right, b.data(), sizeof right);
    return (left[0] ^ right[0]) | (left[1] ^ right[1]) | (left[2] ^ right[2]) | (left[3] ^ right[3]);
}

std::uint32_t expiry_of(const model::KeyRow& row) noexcept {
    if (!row.expires) return KeyRecord::never;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(row.expires->time_since_epoch()).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(seconds, KeyRecord::dead, KeyRecord::never - 1));
}

// Names are laid down in the order of arrival, so that of two records with one digest the later one comes later.
bool in_order(const KeyRecord& a, const KeyRecord& b) noexcept {
    return a.digest < b.digest || (a.digest == b.digest && a.name < b.name);
}

// Not for a little: it costs a copy.
template <class Container>
void shrink(Container& container) {
    if (container.capacity() - container.size() > container.size() / 8) container.shrink_to_fit();
}

base::Result<KeySet> join(const KeySet& older, const KeySet& newer, bool keep_dead) {
    KeySetBuilder builder;
    builder.reserve(older, newer);
    auto old = older.records().begin();
    const auto take = [&](const KeySet& set, const KeyRecord& record) {
        if (keep_dead || record.expires_s != KeyRecord::dead) builder.add(set, record);
    };
    for (const auto& record : newer.records()) {
        for (; old != older.records().end() && old->digest < record.digest; ++old)
            take(older, *old);
        if (old != older.records().end() && old->digest == record.digest) ++old;
        take(newer, record);
    }
    for (; old != older.records().end(); ++old)
        take(older, *old);
    return std::move(builder).build();
}

}  // namespace

bool KeyRecord::alive(base::WallTime now) const noexcept {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    return expires_s == never || seconds < std::int64_t{expires_s};
}

// Two to four records fall to a bucket on average, however many there are: digests are uniform.
void KeySet::index() {
    starts_.clear();
    if (records_.empty()) return;
    bits_ = records_.size() < 4 ? 0U : static_cast<unsigned>(std::bit_width(records_.size())) - 2U;
    starts_.assign((std::size_t{1} << bits_) + 1, 0);
    for (const auto& record : records_)
        ++starts_[bucket_of(record.digest) + 1];
    for (std::size_t bucket = 1; bucket < starts_.size(); ++bucket)
        starts_[bucket] += starts_[bucket - 1];
}

std::size_t KeySet::bucket_of(const base::Sha256Digest& digest) const noexcept {
    return bits_ == 0 ? 0 : leading_bits(digest) >> (64U - bits_);
}

// Every record of the bucket is compared whole, so that the work tells nothing but the bucket.
const KeyRecord* KeySet::find(const base::Sha256Digest& digest) const noexcept {
    if (starts_.empty()) return nullptr;
    const std::size_t bucket = bucket_of(digest);
    const KeyRecord* found = nullptr;
    for (std::uint32_t at = starts_[bucket]; at < starts_[bucket + 1]; ++at)
        found = difference(records_[at].digest, digest) == 0 ? &records_[at] : found;
    return found;
}

std::string_view KeySet::name_of(const KeyRecord& record) const noexcept {
    const auto length = static_cast<std::uint8_t>(names_[record.name]);
    return {names_.data() + record.name + 1, length};
}

std::size_t KeySet::bytes() const noexcept {
    std::size_t total = records_.capacity() * sizeof(KeyRecord) + starts_.capacity() * sizeof(std::uint32_t) +
                        names_.capacity() + scopes_.capacity() * sizeof(Scope);
    for (const auto& scope : scopes_)
        total += scope.tenant.size() + scope.team.size() + scope.application.size() + scope.workload.size();
    return total;
}

std::size_t KeySetBuilder::Hash::operator()(const model::KeyScope& scope) const noexcept {
    std::size_t hash = 0;
    for (const auto part : {scope.tenant, scope.team, scope.application, scope.workload})
        hash = hash * 0x9E3779B97F4A7C15ULL + std::hash<std::string_view>{}(part);
    return hash;
}

std::uint32_t KeySetBuilder::intern(const model::KeyScope& scope) {
    auto& scopes = set_.scopes_;
    if (last_scope_ < scopes.size() && scopes[last_scope_].view() == scope) return last_scope_;
    const std::size_t hash = Hash{}(scope);
    const auto [begin, end] = scope_of_hash_.equal_range(hash);
    const auto known = std::find_if(begin, end, [&](const auto& at) { return scopes[at.second].view() == scope; });
    if (known != end) return last_scope_ = known->second;
    last_scope_ = static_cast<std::uint32_t>(scopes.size());
    scopes.push_back({.tenant = std::string{scope.tenant},
                      .team = std::string{scope.team},
                      .application = std::string{scope.application},
                      .workload = std::string{scope.workload}});
    scope_of_hash_.emplace(hash, last_scope_);
    return last_scope_;
}

void KeySetBuilder::reserve(const KeySet& one, const KeySet& other) {
    set_.records_.reserve(one.records_.size() + other.records_.size());
    set_.names_.reserve(one.names_.size() + other.names_.size());
}

void KeySetBuilder::append(KeyRecord record, std::string_view name, const model::KeyScope& scope) {
    name = name.substr(0, max_name_bytes);
    full_ = full_ || set_.records_.size() >= max_keys ||
            set_.names_.size() + name.size() >= std::numeric_limits<std::uint32_t>::max();
    if (full_) return;
    record.scope = intern(scope);
    record.name = static_cast<std::uint32_t>(set_.names_.size());
    set_.names_.push_back(static_cast<char>(name.size()));
    set_.names_.insert(set_.names_.end(), name.begin(), name.end());
    set_.records_.push_back(record);
}

void KeySetBuilder::add(const model::KeyRow& row) {
    if (row.revoked) return append({.digest = row.digest}, "", {});
    append({.digest = row.digest, .expires_s = expiry_of(row), .permissions = row.permissions}, row.name, row.scope);
}

void KeySetBuilder::add(const KeySet& from, const KeyRecord& record) {
    append(record, from.name_of(record), from.scopes()[record.scope].view());
}

base::Status KeySetBuilder::settle_twins(Twins twins) {
    auto& records = set_.records_;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < records.size(); ++at) {
        const bool last = at + 1 == records.size() || records[at].digest != records[at + 1].digest;
        if (last) {
            records[kept++] = records[at];
            continue;
        }
        if (twins == Twins::last_wins) continue;
        const auto tenant = [&](const KeyRecord& record) { return set_.scopes_[record.scope].tenant; };
        return base::fail(base::ErrorCode::invalid_argument,
                          fmt::format("the keys '{}' of tenant '{}' and '{}' of tenant '{}' have the same secret",
                                      set_.name_of(records[at]), tenant(records[at]), set_.name_of(records[at + 1]),
                                      tenant(records[at + 1])));
    }
    records.resize(kept);
    return {};
}

base::Result<KeySet> KeySetBuilder::build(Twins twins) && {
    if (full_)
        return base::fail(base::ErrorCode::too_large,
                          fmt::format("there are more than {} keys, or 4 GiB of names", max_keys));
    auto& records = set_.records_;
    if (!std::ranges::is_sorted(records, in_order)) std::ranges::sort(records, in_order);
    if (auto settled = settle_twins(twins); !settled) return std::unexpected{std::move(settled).error()};
    shrink(records);
    shrink(set_.names_);
    set_.index();
    return std::move(set_);
}

base::Result<KeySet> merge(const KeySet& older, const KeySet& newer) { return join(older, newer, false); }
base::Result<KeySet> overlay(const KeySet& older, const KeySet& newer) { return join(older, newer, true); }

}  // namespace weir::auth
