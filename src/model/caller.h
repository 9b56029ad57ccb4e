// Caller: who is asking, as the key says. Names come from the configuration only, so they may be labels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::model {

enum class Permission : std::uint8_t { debug, priority, workload, cohort };

inline constexpr std::array all_permissions{Permission::debug, Permission::priority, Permission::workload,
                                            Permission::cohort};
[[nodiscard]] std::string_view name_of(Permission permission) noexcept;
// nullopt = there is no such permission.
[[nodiscard]] std::optional<Permission> permission_of(std::string_view name) noexcept;

class PermissionSet {
public:
    constexpr void add(Permission permission) noexcept { bits_ = static_cast<std::uint8_t>(bits_ | bit(permission)); }
    [[nodiscard]] constexpr bool contains(Permission permission) const noexcept {
        return (bits_ & bit(permission)) != 0;
    }
    friend constexpr bool operator==(PermissionSet, PermissionSet) = default;

private:
    static constexpr std::uint8_t bit(Permission permission) noexcept {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(permission));
    }
    std::uint8_t bits_ = 0;
};

// Views, of the table of keys or of a record.
struct Caller {
    std::string_view tenant;
    std::string_view team;         // "" = none
    std::string_view application;  // "" = none
    std::string_view workload;     // "" = none
    std::string_view key;          // the key's name, never its secret
    PermissionSet permissions;
};

}  // namespace weir::model
