#include "http/body_assembler.h"

#include "http/padding.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace weir::http {
namespace {

// What is reserved at once when that much is announced.
constexpr std::size_t first_reserve_bytes = 64 * 1024;

}  // namespace

BodyAssembler::BodyAssembler(Framing framing, std::uint64_t content_length, std::size_t limit_bytes) noexcept
    : limit_bytes_{framing == Framing::length ? static_cast<std::size_t>(content_length) : limit_bytes},
      framing_{framing},
      whole_{framing == Framing::length && content_length == 0} {
    assert(framing == Framing::chunked || (framing == Framing::length && content_length <= limit_bytes));
}

std::expected<std::size_t, HeadError> BodyAssembler::add(std::span<char> bytes) {
    if (whole_) return std::size_t{0};
    if (framing_ == Framing::length) {
        const auto taken = bytes.first(std::min(bytes.size(), limit_bytes_ - body_.size()));
        append(taken);
        whole_ = body_.size() == limit_bytes_;
        return taken.size();
    }
    const auto decoded = chunks_.decode(bytes);
    if (!decoded.fault.empty()) {
        return std::unexpected{HeadError{.fault = Fault::malformed, .message = decoded.fault}};
    }
    if (decoded.payload.size() > limit_bytes_ - body_.size()) {
        return std::unexpected{
            HeadError{.fault = Fault::body_too_large, .message = "the body is longer than the limit"}};
    }
    append(decoded.payload);
    whole_ = decoded.end;
    return decoded.consumed;
}

void BodyAssembler::append(std::span<const char> payload) {
    const auto needed = body_.size() + payload.size();
    if (needed + padding_bytes > body_.capacity()) {
        const bool announced = framing_ == Framing::length;
        const auto wish = std::max({needed, 2 * body_.capacity(), announced ? first_reserve_bytes : 0});
        body_.reserve((announced ? std::min(wish, limit_bytes_) : wish) + padding_bytes);
    }
    body_.append(payload.data(), payload.size());
}

std::string BodyAssembler::take() {
    body_.reserve(body_.size() + padding_bytes);
    return std::exchange(body_, std::string{});
}

}  // namespace weir::http
