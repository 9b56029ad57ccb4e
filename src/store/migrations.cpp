#include "store/migrations.h"

#include "store/key_tables.h"
#include "store/record_columns.h"

#include <algorithm>

namespace weir::store {

std::vector<Migration> migrations() {
    std::vector<Migration> steps;
    // A number at which the records do not change is empty there.
    const auto records = record_migrations();
    for (std::size_t i = 0; i < records.size(); ++i)
        if (!records[i].empty()) steps.push_back({.number = static_cast<int>(i) + 1, .sql = records[i]});
    for (const auto& step : key_migrations())
        steps.push_back(step);
    std::ranges::sort(steps, {}, &Migration::number);
    return steps;
}

}  // namespace weir::store
