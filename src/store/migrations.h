// Migrations: the numbered steps that bring a store's schema to the newest, for all its tables together.
// What a released step says never changes, and a number is never given twice: a new step gets the next one.
#pragma once

#include <string>
#include <vector>

namespace weir::store {

struct Migration {
    int number = 0;  // the schema's version after it
    std::string sql;
};

// In ascending order, never empty.
[[nodiscard]] std::vector<Migration> migrations();

}  // namespace weir::store
