// RecordColumns: the columns of the table `requests`: name, kind, and how a record fills them. The table is created,
// altered, written and read from this one definition. An absent value is NULL, never 0. Pure.
#pragma once

#include "model/record.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::store {

// A view is valid as long as the record.
using ColumnValue = std::variant<std::monostate, std::int64_t, double, std::string_view, std::string>;

enum class ColumnKind : std::uint8_t {
    text,
    integer,
    boolean,       // 0 or 1
    milliseconds,  // REAL
    json,          // TEXT that is JSON already
};

struct Column {
    std::string_view name;
    ColumnKind kind{};
    ColumnValue (*value)(const model::RequestRecord& record);
    bool required = false;  // NOT NULL; a record without it is not acceptable
    int since = 1;          // the migration that adds it; a new column gets the next number, and may not be required
};

// In the order of the contract; the first is the key, request_id.
[[nodiscard]] std::span<const Column> record_columns() noexcept;

// The SQL of each migration, the first at index 0. What a released migration says never changes: it is made of the
// columns of its own number only.
[[nodiscard]] std::vector<std::string> record_migrations();
[[nodiscard]] std::string insert_record_sql();
[[nodiscard]] std::string select_record_sql();  // all columns in order; one parameter, the request id

}  // namespace weir::store
