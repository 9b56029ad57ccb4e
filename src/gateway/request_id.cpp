#include "gateway/request_id.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir::gateway {

namespace {

constexpr std::string_view digits = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
static_assert(digits.size() == 64 && std::ranges::is_sorted(digits));
constexpr std::size_t time_digits = 9;

}  // namespace

RequestId make_request_id(base::WallTime now, base::Random& random) noexcept {
    RequestId id;
    const auto microseconds = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch()).count();
    auto rest = static_cast<std::uint64_t>(microseconds);
    for (std::size_t i = time_digits; i-- > 0; rest >>= 6U)
        id[i] = digits[rest & 63U];
    random.fill_text(std::span{id}.subspan(time_digits));
    return id;
}

}  // namespace weir::gateway
