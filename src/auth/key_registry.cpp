#include "auth/key_registry.h"

#include <algorithm>
#include <utility>

namespace weir::auth {

namespace {

enum Place : std::size_t { configured, changed, stored };

// So few changes are never worth a merge.
constexpr std::size_t cheap_changes = 1024;
constexpr std::size_t merge_divisor = 16;

std::shared_ptr<const KeySet> shared(KeySet keys) { return std::make_shared<const KeySet>(std::move(keys)); }

}  // namespace

void KeyRegistry::publish() { replaced_.push_back(std::exchange(table_, std::make_shared<const KeyTable>(layers_))); }

void KeyRegistry::configure(KeySet keys, Binder binder) {
    binder_ = std::move(binder);
    layers_[configured] = KeyLayer{shared(std::move(keys)), binder_};
    for (const auto place : {changed, stored})
        layers_[place] = KeyLayer{layers_[place].shared_keys(), binder_};
    publish();
}

void KeyRegistry::replace_stored(KeySet keys) {
    layers_[stored] = KeyLayer{shared(std::move(keys)), binder_};
    layers_[changed] = KeyLayer{};
    publish();
}

base::Status KeyRegistry::change_stored(const KeySet& changes) {
    auto all_changes = overlay(layers_[changed].keys(), changes);
    if (!all_changes) return std::unexpected{std::move(all_changes).error()};
    const auto& known = layers_[stored].keys();
    if (all_changes->size() > std::max(cheap_changes, known.size() / merge_divisor)) {
        auto merged = merge(known, *all_changes);
        if (!merged) return std::unexpected{std::move(merged).error()};
        replace_stored(*std::move(merged));
        return {};
    }
    layers_[changed] = KeyLayer{shared(*std::move(all_changes)), binder_};
    publish();
    return {};
}

void KeyRegistry::free_unread() {
    std::erase_if(replaced_, [](const Table& table) { return table.use_count() == 1; });
}

std::size_t KeyRegistry::stored_keys() const noexcept {
    return layers_[changed].keys().size() + layers_[stored].keys().size();
}

std::vector<Scope> KeyRegistry::unusable_scopes() const {
    std::vector<Scope> found;
    for (const auto place : {changed, stored})
        for (const auto& scope : layers_[place].keys().scopes())
            if (!scope.tenant.empty() && !binder_(scope.view()).usable()) found.push_back(scope);
    std::ranges::sort(found);
    const auto twins = std::ranges::unique(found);
    found.erase(twins.begin(), twins.end());
    return found;
}

}  // namespace weir::auth
