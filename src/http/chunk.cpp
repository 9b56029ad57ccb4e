#include "http/chunk.h"

#include "http/ascii.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>

namespace weir::http {
namespace {

constexpr auto hex_values = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    constexpr std::string_view lower = "0123456789abcdef";
    constexpr std::string_view upper = "0123456789ABCDEF";
    for (std::size_t value = 0; value < lower.size(); ++value)
        values[static_cast<unsigned char>(lower[value])] = values[static_cast<unsigned char>(upper[value])] =
            static_cast<std::int8_t>(value);
    return values;
}();

// The value of a hexadecimal digit, or -1.
int hex_value(char c) noexcept { return hex_values[static_cast<unsigned char>(c)]; }

}  // namespace

ChunkDecoder::Decoded ChunkDecoder::decode(std::span<char> bytes) noexcept {
    assert(state_ != State::done);
    Decoded decoded{.payload = bytes.first(0)};
    while (decoded.consumed < bytes.size() && state_ != State::done) {
        if (state_ == State::size_first) decoded.consumed += skip_plain_opening(bytes.subspan(decoded.consumed));
        if (state_ == State::data) {
            take_data(bytes, decoded);
        } else if (step(bytes[decoded.consumed])) {
            ++decoded.consumed;
        } else {
            decoded.fault = complaint();
            return decoded;
        }
    }
    decoded.end = state_ == State::done;
    return decoded;
}

// The data of the present chunk, as much as is there, and the CRLF behind it if that is there in one piece.
void ChunkDecoder::take_data(std::span<char> bytes, Decoded& decoded) noexcept {
    auto rest = bytes.subspan(decoded.consumed);
    const auto data = rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size())));
    if (decoded.payload.empty()) {
        decoded.payload = data;
    } else {
        std::memmove(decoded.payload.data() + decoded.payload.size(), data.data(), data.size());
        decoded.payload = {decoded.payload.data(), decoded.payload.size() + data.size()};
    }
    left_ -= data.size();
    decoded.consumed += data.size();
    if (left_ > 0) return;
    rest = rest.subspan(data.size());
    const bool line_ends_here = rest.size() >= 2 && rest[0] == '\r' && rest[1] == '\n';
    if (line_ends_here) decoded.consumed += 2;
    digits_ = 0;
    state_ = line_ends_here ? State::size_first : State::data_return;
}

// The common opening, "1a3" CRLF in one piece, without a step for each byte. Returns its size; 0 leaves everything to
// step(): a last chunk, an extension, a piece, an error.
std::size_t ChunkDecoder::skip_plain_opening(std::span<const char> bytes) noexcept {
    constexpr std::size_t most_digits = 8;
    std::uint64_t size = 0;
    std::size_t digits = 0;
    for (; digits < most_digits && digits < bytes.size(); ++digits) {
        const int value = hex_value(bytes[digits]);
        if (value < 0) break;
        size = size << 4U | static_cast<std::uint64_t>(value);
    }
    const bool plain = size > 0 && bytes.size() >= digits + 3 && bytes[digits] == '\r' && bytes[digits + 1] == '\n';
    if (!plain) return 0;
    left_ = size;
    state_ = State::data;
    return digits + 2;
}

// Takes one byte of framing; false when it must not be there.
bool ChunkDecoder::step(char c) noexcept {
    const auto expect = [this, c](char wanted, State next) {
        if (c != wanted) return false;
        state_ = next;
        return true;
    };
    switch (state_) {
        case State::size_first:
        case State::size_more: return take_size(c);
        case State::extension:
            if (c == '\r') return expect('\r', State::size_line_feed);
            return is_value_char(c) && ++extension_bytes_ <= max_extension_bytes;
        case State::size_line_feed: return expect('\n', left_ > 0 ? State::data : State::trailer_first);
        case State::data_return: return expect('\r', State::data_line_feed);
        case State::data_line_feed: digits_ = 0; return expect('\n', State::size_first);
        case State::trailer_first:
        case State::trailer_name:
        case State::trailer_value: return take_trailer(c);
        case State::trailer_line_feed: return expect('\n', State::trailer_first);
        case State::last_line_feed: return expect('\n', State::done);
        case State::data:
        case State::done: break;
    }
    return false;
}

bool ChunkDecoder::take_size(char c) noexcept {
    if (const int value = hex_value(c); value >= 0) {
        state_ = State::size_more;
        left_ = left_ << 4U | static_cast<std::uint64_t>(value);
        return ++digits_ <= 16;
    }
    if (state_ == State::size_first || (c != ';' && c != '\r')) return false;
    state_ = c == ';' ? State::extension : State::size_line_feed;
    return true;
}

bool ChunkDecoder::take_trailer(char c) noexcept {
    if (c == '\r' && state_ != State::trailer_name) {
        state_ = state_ == State::trailer_first ? State::last_line_feed : State::trailer_line_feed;
        return true;
    }
    if (++trailer_bytes_ > max_trailer_bytes) return false;
    if (state_ == State::trailer_value) return is_value_char(c);
    if (c == ':' && state_ == State::trailer_name) {
        state_ = State::trailer_value;
        return true;
    }
    state_ = State::trailer_name;
    return is_token_char(c);
}

std::string_view ChunkDecoder::complaint() const noexcept {
    switch (state_) {
        case State::size_first:
        case State::size_more: return "a chunk's size is not a hexadecimal number of at most 16 digits";
        case State::extension: return "a chunk's extension is too long or holds a control character";
        case State::size_line_feed:
        case State::data_return:
        case State::data_line_feed: return "a chunk's line does not end in CRLF";
        case State::trailer_first:
        case State::trailer_name:
        case State::trailer_value:
        case State::trailer_line_feed:
        case State::last_line_feed: return "the trailer of a chunked body is malformed or too long";
        case State::data:
        case State::done: break;
    }
    return "the chunked coding is malformed";
}

ChunkOpening::ChunkOpening(std::uint64_t size) noexcept {
    auto* const end = std::to_chars(text_.data(), text_.data() + 16, size, 16).ptr;
    end[0] = '\r';
    end[1] = '\n';
    length_ = static_cast<std::uint8_t>(end + 2 - text_.data());
}

}  // namespace weir::http
