#include "store/migrations.h"

#include "store/key_tables.h"
#include "store/record_schema.h"

#include <algorithm>

namespace weir::store {

std::vector<Migration> migrations() {
    std::vector<Migration> steps{{.number = 1, .sql = std::string{first_record_schema}},
                                 {.number = 2, .sql = std::string{second_record_schema}}};
    for (const auto& step : key_migrations())
        steps.push_back(step);
    std::ranges::sort(steps, {}, &Migration::number);
    return steps;
}

}  // namespace weir::store
