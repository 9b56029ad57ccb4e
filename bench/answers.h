// Answers: the bytes that the mock upstream sends, made once, in the shapes of an OpenAI-compatible engine; and the
// stamp in a chunk's content by which the loader knows when it was sent.
// Invariant: all content events have one size, so that a frame can be stamped in place. Units: bytes, nanoseconds.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::bench {

inline constexpr std::string_view model_name = "bench-model";

struct Answers {
    Answers();

    std::string whole;         // a complete response, head included
    std::string models;        // responses to the questions of a prober
    std::string version;
    std::string metrics;
    std::string healthy;
    std::string not_found;
    std::string bad_request;
    std::string stream_begin;  // head and the role event
    std::string content;       // one framed content event; stamp() fills its time in
    std::string burst;         // as many of them as one write should take, unstamped
    std::size_t burst_chunks = 0;
    std::string stream_end;    // finish_reason and [DONE], and the last chunk
    std::string stream_end_with_usage;

    // The content event with the time in it; valid until the next call.
    [[nodiscard]] std::string_view stamped(base::Instant now) noexcept;
    // The same, but `created` is another one than in the last 10,000 calls.
    [[nodiscard]] std::string_view stamped_and_varied(base::Instant now) noexcept;

private:
    std::size_t stamp_offset_ = 0;
    std::size_t varied_offset_ = 0;
    std::uint32_t variations_ = 0;
};

// The time in a content event; nullopt: not a content event. An unstamped one tells the epoch.
[[nodiscard]] std::optional<base::Instant> sent_at(std::string_view event_data) noexcept;

}  // namespace weir::bench
