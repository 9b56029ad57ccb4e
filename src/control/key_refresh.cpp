#include "control/key_refresh.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::control {

using base::Result;
using base::Status;

namespace {

constexpr std::size_t most_warnings = 10;

std::string text_of(const auth::Scope& scope) {
    std::string text = fmt::format("tenant {}", scope.tenant);
    if (!scope.team.empty()) text += fmt::format(", team {}", scope.team);
    if (!scope.application.empty()) text += fmt::format(", application {}", scope.application);
    return text;
}

}  // namespace

Result<auth::KeyRegistry::Table> KeyRefresh::load(auth::KeySet configured, auth::KeyRegistry::Binder binder) {
    const std::scoped_lock lock{mutex_};
    registry_.configure(std::move(configured), std::move(binder));
    if (auto looked = look(); !looked) return std::unexpected{std::move(looked).error()};
    warn_of_unusable_keys();
    return registry_.table();
}

void KeyRefresh::publish_to(Publish publish) {
    const std::scoped_lock lock{mutex_};
    publish_ = std::move(publish);
}

void KeyRefresh::reconfigure(auth::KeySet configured, auth::KeyRegistry::Binder binder, const Publish& publish) {
    const std::scoped_lock lock{mutex_};
    registry_.configure(std::move(configured), std::move(binder));
    warn_of_unusable_keys();
    publish(registry_.table());
}

void KeyRefresh::refresh() {
    const std::scoped_lock lock{mutex_};
    registry_.free_unread();
    const auto before = registry_.table();
    if (auto looked = look(); !looked) {
        if (!std::exchange(failing_, true))
            hooks_.report(fmt::format("keys: {}; the {} stored keys known so far stay in force",
                                      looked.error().message(), registry_.stored_keys()));
        return;
    }
    if (std::exchange(failing_, false))
        hooks_.report(fmt::format("keys: the store can be read again; {} stored keys", registry_.stored_keys()));
    if (registry_.table() == before) return;
    warn_of_unusable_keys();
    if (publish_) publish_(registry_.table());
}

Status KeyRefresh::look() {
    if (!feed_) {
        auto feed = hooks_.open_feed();
        if (!feed) return std::unexpected{std::move(feed).error()};
        feed_ = *std::move(feed);
        all_read_ = false;
    }
    if (!all_read_) return read_all();
    const auto newest = feed_->version();
    if (!newest) return std::unexpected{newest.error()};
    if (*newest == version_) return {};
    if (*newest > version_) return read_changes();
    // An older copy of the store, or another one: what was read before never happened, even if this reading fails.
    all_read_ = false;
    return read_all();
}

Status KeyRefresh::read_all() {
    auth::KeySetBuilder builder;
    const auto version = feed_->read(0, [&](const model::KeyRow& row) { builder.add(row); });
    if (!version) return std::unexpected{version.error()};
    auto keys = std::move(builder).build();
    if (!keys) return std::unexpected{std::move(keys).error()};
    registry_.replace_stored(*std::move(keys));
    version_ = *version;
    all_read_ = true;
    return {};
}

Status KeyRefresh::read_changes() {
    if (version_ == 0) return read_all();
    auth::KeySetBuilder builder;
    const auto version = feed_->read(version_, [&](const model::KeyRow& row) { builder.add(row); });
    if (!version) return std::unexpected{version.error()};
    auto changes = std::move(builder).build();
    if (!changes) return std::unexpected{std::move(changes).error()};
    if (auto changed = registry_.change_stored(*changes); !changed) return changed;
    version_ = *version;
    return {};
}

// Each time the set of such scopes is another than it was.
void KeyRefresh::warn_of_unusable_keys() {
    auto scopes = registry_.unusable_scopes();
    if (scopes == warned_) return;
    warned_ = std::move(scopes);
    for (std::size_t i = 0; i < std::min(warned_.size(), most_warnings); ++i)
        hooks_.report(
            fmt::format("warning: the store has keys of {}, which the configuration does not know; they are "
                        "refused until it does",
                        text_of(warned_[i])));
    if (warned_.size() > most_warnings)
        hooks_.report(fmt::format("warning: and of {} more", warned_.size() - most_warnings));
}

}  // namespace weir::control
