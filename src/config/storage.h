// Where state lives: the durable store and the limits shared between gateways.
#pragma once

#include "config/secret.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::config {

enum class StoreKind : std::uint8_t { sqlite, postgresql };

enum class SpoolFull : std::uint8_t { refuse, drop };
[[nodiscard]] std::string_view name_of(SpoolFull policy) noexcept;

// Where records wait for the store.
struct Spool {
    std::optional<std::string> path;           // absent: beside the SQLite file
    std::uint64_t cap_bytes = std::uint64_t{1} << 30U;
    std::uint64_t segment_bytes = 4 << 20U;
    SpoolFull when_full = SpoolFull::refuse;
};

struct Store {
    Secret url{"sqlite:weir.db"};  // may hold a password
    Spool spool;
    // By the scheme of the URL.
    [[nodiscard]] StoreKind kind() const noexcept;
    // What follows "sqlite:"; "" for PostgreSQL.
    [[nodiscard]] std::string sqlite_path() const;
    // spool.path, or what stands for it: the SQLite file's path with ".spool" behind it, "weir.spool" without one.
    [[nodiscard]] std::string spool_path() const;
};

struct SharedLimits {
    Secret url{"local"};  // "local" or redis://
    [[nodiscard]] bool local() const noexcept { return url.reveal() == "local"; }
};

}  // namespace weir::config
