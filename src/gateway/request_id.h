// RequestId: a request's name in its answer, upstream, in the log and in the store: 24 characters of [A-Za-z0-9_-].
// The first nine are the wall clock's microseconds, in digits that sort as bytes do, so that an index of ids grows at
// its end; the rest is 90 random bits, so that ids of any number of gateways never meet. Pure.
#pragma once

#include "base/random.h"
#include "base/time.h"

#include <array>
#include <cstddef>

namespace weir::gateway {

inline constexpr std::size_t request_id_length = 24;
using RequestId = std::array<char, request_id_length>;

[[nodiscard]] RequestId make_request_id(base::WallTime now, base::Random& random) noexcept;

}  // namespace weir::gateway
