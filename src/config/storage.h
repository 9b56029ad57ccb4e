// Where state lives: the durable store and the limits shared between gateways.
#pragma once

#include "config/secret.h"

#include <cstdint>

namespace weir::config {

enum class StoreKind : std::uint8_t { sqlite, postgresql };

struct Store {
    Secret url{"sqlite:weir.db"};  // may hold a password
    // By the scheme of the URL.
    [[nodiscard]] StoreKind kind() const noexcept;
    // What follows "sqlite:"; "" for PostgreSQL.
    [[nodiscard]] std::string sqlite_path() const;
};

struct SharedLimits {
    Secret url{"local"};  // "local" or redis://
    [[nodiscard]] bool local() const noexcept { return url.reveal() == "local"; }
};

}  // namespace weir::config
