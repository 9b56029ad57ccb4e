// Clocks: the moments of one request, noted as they happen, and the latencies that follow from them. Pure: time comes
// in. Definitions: contract.md section 5. Invariants: what did not happen is absent, never 0; queue + upstream +
// gateway is the time since the last request byte. Units: instants in, milliseconds out.
#pragma once

#include "base/inline_text.h"
#include "base/time.h"
#include "model/record.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weir::telemetry {

// Each is set once, by the stage that sees it. An output event carries content, reasoning or a tool call; start events,
// role-only deltas, pings, usage and errors are none.
struct Moments {
    base::Instant began{};  // the request's head was complete
    base::Instant last_request_byte{};
    std::optional<base::Instant> queue_entered;  // it had to wait for a replica
    std::optional<base::Instant> queue_left;
    std::optional<base::Instant> dispatched;  // the first attempt began
    std::optional<base::Instant> attempt_began;  // the attempt that answered
    std::optional<base::Instant> upstream_first;  // its first output event (or body byte) was read
    std::optional<base::Instant> first_output_sent;  // handed to the client's socket
    std::optional<base::Instant>
        first_visible_sent;  // the first that a client shows: content, not reasoning or a tool call
    std::optional<base::Instant> last_output_sent;
    std::optional<base::Instant> last_upstream_byte;  // of the last attempt
    // As the engine tells, else 1 for engines that begin with a single token (vLLM, llama.cpp), else absent.
    std::optional<std::uint64_t> tokens_in_first_event;
};

// Where the time between the last request byte and `now` went, for the server-timing header and gateway_ms.
struct TimeSplit {
    base::Nanoseconds queue{};
    base::Nanoseconds upstream{};  // first attempt's start to the last upstream byte, or to `now` while one is expected
    base::Nanoseconds gateway{};  // the rest: our own part
};
[[nodiscard]] TimeSplit split_time(const Moments& moments, base::Instant now) noexcept;
using ServerTiming = base::InlineText<112>;  // three names and numbers of 64 bits
// "queue;dur=0.0, upstream;dur=12.3, gateway;dur=0.2": milliseconds, cut to a tenth.
[[nodiscard]] ServerTiming server_timing(const TimeSplit& split);

// Fills the record's latencies. It must know already whether it is a stream, and its tokens: TPOT needs the engine's
// own count. TTFT, TPOT and the like are for streams only; queue_ms and gateway_ms for requests that were dispatched.
void close_clocks(const Moments& moments, base::Instant end, model::RequestRecord& record) noexcept;

}  // namespace weir::telemetry
