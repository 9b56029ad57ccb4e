// RecordColumns: the table of the columns of `requests`: name, SQL type, and how a record fills them. The table is
// created, written and read from this one definition. An absent value is NULL, never 0.
#pragma once

#include "model/record.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace weir::store {

using ColumnValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct Column {
    std::string_view name;
    std::string_view type;
    ColumnValue (*value)(const model::RequestRecord& record);
};

// The first column is the key, request_id.
[[nodiscard]] std::span<const Column> record_columns() noexcept;
[[nodiscard]] std::string create_requests_sql();
[[nodiscard]] std::string insert_request_sql();

}  // namespace weir::store
