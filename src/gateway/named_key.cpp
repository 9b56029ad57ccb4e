#include "gateway/named_key.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weir::gateway {

namespace {

constexpr std::size_t most_suggested = 1000;  // keys that a misspelt name is compared with

struct Place {
    const auth::KeyLayer* layer = nullptr;
    const auth::KeyRecord* record = nullptr;
    [[nodiscard]] std::string_view name() const noexcept { return layer->keys().name_of(*record); }
    [[nodiscard]] std::string_view tenant() const noexcept { return layer->keys().scopes()[record->scope].tenant; }
};

// A layer hides what later ones have of the same secret; of a revoked key nothing but the digest is left.
bool counts(const auth::KeyTable& keys, const Place& place) noexcept {
    if (place.record->expires_s == auth::KeyRecord::dead) return false;
    for (const auto& layer : keys.layers()) {
        if (&layer == place.layer) return true;
        if (layer.keys().find(place.record->digest) != nullptr) return false;
    }
    return true;
}

// `visit` says whether to go on.
template <class Visit>
void walk(const auth::KeyTable& keys, const Visit& visit) {
    for (const auto& layer : keys.layers())
        for (const auto& record : layer.keys().records())
            if (!visit(Place{.layer = &layer, .record = &record})) return;
}

bool is_called(const Place& place, std::string_view name) noexcept {
    const auto own = place.name();
    if (name == own) return true;
    const auto tenant = place.tenant();
    return name.size() == tenant.size() + 1 + own.size() && name.starts_with(tenant) && name[tenant.size()] == '/' &&
           name.ends_with(own);
}

NamedKey key_at(const Place& place, base::WallTime now) {
    return {.entry = place.layer->entry_of(*place.record),
            .alive = place.record->alive(now),
            .usable = place.layer->binding_of(*place.record).usable()};
}

std::string unknown(const auth::KeyTable& keys, std::string_view name) {
    std::vector<std::string_view> known;
    walk(keys, [&](const Place& place) {
        if (counts(keys, place)) known.push_back(place.name());
        return known.size() < most_suggested;
    });
    return fmt::format("there is no key {}{}", base::quoted(name), base::suggestion(name, known));
}

}  // namespace

base::Result<NamedKey> find_named_key(const auth::KeyTable& keys, std::string_view name, base::WallTime now) {
    std::vector<Place> found;
    walk(keys, [&](const Place& place) {
        if (is_called(place, name) && counts(keys, place)) found.push_back(place);
        return true;
    });
    if (found.empty()) return base::fail(base::ErrorCode::not_found, unknown(keys, name));
    const auto& first = found.front();
    if (!std::ranges::all_of(found, [&](const Place& place) { return place.tenant() == first.tenant(); }))
        return base::fail(base::ErrorCode::invalid_argument,
                          fmt::format("several tenants have a key {}; write it as {}/{}", base::quoted(name),
                                      first.tenant(), first.name()));
    for (const auto& place : found)
        if (auto key = key_at(place, now); key.works()) return key;
    return key_at(first, now);
}

std::optional<NamedKey> only_key(const auth::KeyTable& keys, base::WallTime now) {
    std::vector<Place> found;
    walk(keys, [&](const Place& place) {
        if (counts(keys, place)) found.push_back(place);
        return found.size() < 2;
    });
    if (found.size() != 1) return std::nullopt;
    return key_at(found.front(), now);
}

}  // namespace weir::gateway
