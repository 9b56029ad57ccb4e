// Plan: what the mock upstream answers to one chat request. The request says it in its member "user", because every
// gateway forwards the body, while Weir forwards few headers. Pure values.
// Texts: "bench:whole", "bench:paced:200:20" (chunks, milliseconds between them), "bench:varied:200:20",
// "bench:burst:20000", "bench:idle".
#pragma once

#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::bench {

enum class PlanKind : std::uint8_t {
    whole,  // one JSON answer of about 0.6 KB
    paced,  // a stream with a chunk at every interval; the chunks differ in their text only
    varied,  // the same, but they differ in more
    burst,  // a stream as fast as the reader takes it
    idle,   // a stream that stays silent behind its first chunk until the client goes
};

struct Plan {
    PlanKind kind = PlanKind::whole;
    std::uint32_t chunks = 0;               // all but whole and idle: 1..10 million
    std::chrono::milliseconds interval{0};  // paced, varied: 1 ms..1 h
    friend bool operator==(const Plan&, const Plan&) = default;
    [[nodiscard]] bool streams() const noexcept { return kind != PlanKind::whole; }
    [[nodiscard]] bool has_interval() const noexcept { return kind == PlanKind::paced || kind == PlanKind::varied; }
};

[[nodiscard]] std::string to_text(const Plan& plan);

// "paced:200:20", with or without "bench:" in front. Errors: invalid_argument, with the forms there are.
[[nodiscard]] base::Result<Plan> parse_plan(std::string_view text);

// The plan in a request body; a body without one asks for `whole`. Errors: as parse_plan.
[[nodiscard]] base::Result<Plan> find_plan(std::string_view body);

}  // namespace weir::bench
