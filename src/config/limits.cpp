#include "config/limits.h"

#include "config/tables.h"
#include "config/types.h"

namespace weir::config {

const Table<Limits>& limits_table() {
    static const Table<Limits> table{
        field("requests", &Limits::requests, rate(), "Requests per period."),
        field("input_tokens", &Limits::input_tokens, rate(), "Prompt tokens per period."),
        field("output_tokens", &Limits::output_tokens, rate(), "Generated tokens per period."),
        field("concurrency", &Limits::concurrency, count({1, 1'000'000}), "Requests in flight at once."),
    };
    return table;
}

}  // namespace weir::config
