#include "store/migrations.h"

#include "store/record_schema.h"

#include <array>

namespace weir::store {

namespace {

constexpr std::array all{
    first_record_schema,   // 1
    second_record_schema,  // 2
};

}  // namespace

std::span<const std::string_view> migrations() noexcept { return all; }

}  // namespace weir::store
