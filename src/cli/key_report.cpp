#include "cli/key_report.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace weir::cli {

namespace {

constexpr std::size_t columns = 11;
using Line = std::array<std::string, columns>;

// A store may have been edited by hand; a terminal shall not obey what it says.
std::string shown(std::string_view text) {
    if (text.empty()) return "-";
    std::string result{text};
    std::ranges::replace_if(result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
    return result;
}

std::string permissions_of(model::PermissionSet permissions) {
    std::string text;
    for (const auto permission : model::all_permissions)
        if (permissions.contains(permission))
            text += (text.empty() ? "" : ",") + std::string{model::name_of(permission)};
    return text.empty() ? "-" : text;
}

Line line_of(const ports::StoredKey& key, base::WallTime now) {
    return {shown(key.name),
            shown(key.tenant),
            shown(key.team),
            shown(key.application),
            shown(key.workload),
            permissions_of(key.permissions),
            std::string{name_of(state_of(key, now))},
            text_of(key.created),
            key.expires ? text_of(*key.expires) : "never",
            text_of(key.changed),
            shown(key.id)};
}

void write_time(base::JsonWriter& json, std::string_view name, const std::optional<base::WallTime>& time) {
    if (time) json.member(name, std::string_view{text_of(*time)});
}

}  // namespace

std::string_view name_of(ports::KeyState state) noexcept {
    switch (state) {
        case ports::KeyState::active: return "active";
        case ports::KeyState::expired: return "expired";
        case ports::KeyState::revoked: return "revoked";
    }
    std::unreachable();
}

std::string text_of(base::WallTime time) {
    constexpr std::size_t without_fraction = 19;
    return base::to_rfc3339(time).substr(0, without_fraction) + "Z";
}

void write_key_members(base::JsonWriter& json, const ports::StoredKey& key, base::WallTime now) {
    json.member("id", std::string_view{key.id}).member("name", std::string_view{key.name});
    json.member("tenant", std::string_view{key.tenant});
    if (!key.team.empty()) json.member("team", std::string_view{key.team});
    if (!key.application.empty()) json.member("application", std::string_view{key.application});
    if (!key.workload.empty()) json.member("workload", std::string_view{key.workload});
    json.key("permissions").begin_array();
    for (const auto permission : model::all_permissions)
        if (key.permissions.contains(permission)) json.string(model::name_of(permission));
    json.end_array();
    json.member("state", name_of(state_of(key, now)));
    write_time(json, "created", key.created);
    write_time(json, "changed", key.changed);
    write_time(json, "expires", key.expires);
    write_time(json, "revoked", key.revoked);
    const bool in_grace = key.previous_until && *key.previous_until > now && !key.revoked;
    if (in_grace) write_time(json, "previous_until", key.previous_until);
}

std::string key_table(std::span<const ports::StoredKey> keys, base::WallTime now) {
    std::vector<Line> lines{{"NAME", "TENANT", "TEAM", "APPLICATION", "WORKLOAD", "PERMISSIONS", "STATE", "CREATED",
                             "EXPIRES", "CHANGED", "ID"}};
    for (const auto& key : keys)
        lines.push_back(line_of(key, now));
    std::array<std::size_t, columns> widths{};
    for (const auto& line : lines)
        for (std::size_t i = 0; i < columns; ++i)
            widths[i] = std::max(widths[i], line[i].size());
    std::string text;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i + 1 < columns; ++i)
            text += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
        text += line.back() + "\n";
    }
    return text;
}

}  // namespace weir::cli
