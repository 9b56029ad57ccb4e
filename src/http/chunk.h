// Chunked transfer coding (RFC 9112, 7.1): a strict incremental decoder, and the line that opens a chunk.
// Strict: hexadecimal sizes of at most 16 digits, exact CRLFs, bounded extensions and trailers, both dropped.
// Sans-I/O; accepts any split of the input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir::http {

class ChunkDecoder {
public:
    struct Decoded {
        std::span<char> payload;   // in the input, of all chunks together
        std::size_t consumed = 0;  // of the input; less than all of it only at the end of the message
        bool end = false;          // the message is complete; what was not consumed belongs to what follows it
        std::string_view fault{};  // what is wrong behind the payload; "" = nothing
    };
    // Decodes in place: the data of several chunks is moved together. After a fault or the end the decoder must not be
    // used again.
    [[nodiscard]] Decoded decode(std::span<char> bytes) noexcept;

    static constexpr std::size_t max_extension_bytes = 4096;  // of one message, all chunks together
    static constexpr std::size_t max_trailer_bytes = 8192;

private:
    enum class State : std::uint8_t {
        size_first,  // the first digit of a size
        size_more,  // further digits, an extension or CR
        extension,  // up to CR
        size_line_feed,
        data,
        data_return,  // CR behind the data
        data_line_feed,
        trailer_first,  // the first letter of a trailer's name, or the CR of the last line
        trailer_name,
        trailer_value,
        trailer_line_feed,
        last_line_feed,
        done,
    };
    [[nodiscard]] std::size_t skip_plain_opening(std::span<const char> bytes) noexcept;
    void take_data(std::span<char> bytes, Decoded& decoded) noexcept;
    [[nodiscard]] bool step(char c) noexcept;
    [[nodiscard]] bool take_size(char c) noexcept;
    [[nodiscard]] bool take_trailer(char c) noexcept;
    [[nodiscard]] std::string_view complaint() const noexcept;

    std::uint64_t left_ = 0;  // the size being read, then the data still to come
    std::uint16_t extension_bytes_ = 0;
    std::uint16_t trailer_bytes_ = 0;
    std::uint8_t digits_ = 0;
    State state_ = State::size_first;
};

// "1a3\r\n": what precedes the data of a chunk. The data is followed by "\r\n".
class ChunkOpening {
public:
    explicit ChunkOpening(std::uint64_t size) noexcept;
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), length_}; }

private:
    std::array<char, 18> text_{};
    std::uint8_t length_ = 0;
};

inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace weir::http
