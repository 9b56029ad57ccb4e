// Migrations: how the schema came to be, step by step. They are numbered from 1, run in order within one transaction,
// and only go forward. What a released one says never changes; a new one gets the next number, in a file of the thing
// it is about. Pure.
#pragma once

#include <span>
#include <string_view>

namespace weir::store {

// The SQL of each migration; the first is number 1.
[[nodiscard]] std::span<const std::string_view> migrations() noexcept;

}  // namespace weir::store
