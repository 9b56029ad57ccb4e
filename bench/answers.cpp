#include "bench/answers.h"

#include "http/chunk.h"

#include <fmt/format.h>

#include <charconv>

namespace weir::bench {
namespace {

constexpr std::string_view stamp_mark = "\"content\":\" t=";
constexpr std::size_t stamp_digits = 19;
constexpr std::string_view varied_mark = "\"created\":179600";
constexpr std::size_t varied_digits = 4;
constexpr std::size_t burst_bytes = 64 * 1024;

std::string response(int status, std::string_view reason, std::string_view type, std::string_view body) {
    return fmt::format("HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n{}", status, reason, type,
                       body.size(), body);
}

std::string framed(std::string_view event) {
    const http::ChunkOpening opening{event.size()};
    return fmt::format("{}{}\r\n", opening.text(), event);
}

// `tail` follows the choices.
std::string event(std::string_view choices, std::string_view tail = "") {
    return fmt::format(
        R"(data: {{"id":"chatcmpl-5be1c0f2a9d84e37","object":"chat.completion.chunk","created":1796000000,)"
        R"("model":"{}","choices":[{}]{}}})"
        "\n\n",
        model_name, choices, tail);
}

// The last `digits` of the number, with zeros in front.
void write_number(std::string& text, std::size_t offset, std::size_t digits, std::int64_t number) noexcept {
    for (std::size_t i = digits; i-- > 0; number /= 10)
        text[offset + i] = static_cast<char>('0' + number % 10);
}

constexpr std::string_view usage = R"("usage":{"prompt_tokens":412,"total_tokens":510,"completion_tokens":98})";

std::string whole_body() {
    constexpr std::string_view words =
        "A weir is a low wall across a river. It raises the level of the water above it and lets what is too much "
        "flow over, evenly along its crest; so the mill downstream has what it needs, in a dry month as in a wet "
        "one. It needs no keeper.";
    return fmt::format(
        R"({{"id":"chatcmpl-5be1c0f2a9d84e37","object":"chat.completion","created":1796000000,"model":"{}",)"
        R"("choices":[{{"index":0,"message":{{"role":"assistant","content":"{}","refusal":null,"tool_calls":[]}},)"
        R"("logprobs":null,"finish_reason":"stop","stop_reason":null}}],{},"prompt_logprobs":null}})",
        model_name, words, usage);
}

std::string stream_end(std::string_view usage_event) {
    const auto finish = event(R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","stop_reason":null})");
    return framed(finish) + (usage_event.empty() ? "" : framed(usage_event)) + framed("data: [DONE]\n\n") +
           std::string{http::last_chunk};
}

}  // namespace

Answers::Answers()
    : whole{response(200, "OK", "application/json", whole_body())},
      models{response(200, "OK", "application/json",
                      fmt::format(R"({{"object":"list","data":[{{"id":"{}","object":"model","created":1796000000,)"
                                  R"("owned_by":"vllm","max_model_len":32768}}]}})",
                                  model_name))},
      version{response(200, "OK", "application/json", R"({"version":"0.22.1"})")},
      metrics{response(200, "OK", "text/plain; version=0.0.4", "vllm:num_requests_running 0.0\n")},
      healthy{response(200, "OK", "application/json", "")},
      not_found{response(404, "Not Found", "application/json", R"({"detail":"Not Found"})")},
      bad_request{"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"},
      stream_begin{
          "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
          "transfer-encoding: chunked\r\n\r\n" +
          framed(event(R"({"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null})"))},
      content{framed(event(R"({"index":0,"delta":{"content":" t=0000000000000000000"},)"
                           R"("logprobs":null,"finish_reason":null})"))},
      stream_end{bench::stream_end("")},
      stream_end_with_usage{bench::stream_end(event("", fmt::format(",{}", usage)))},
      stamp_offset_{content.find(stamp_mark) + stamp_mark.size()},
      varied_offset_{content.find(varied_mark) + varied_mark.size()} {
    while (burst.size() + content.size() <= burst_bytes) {
        burst += content;
        ++burst_chunks;
    }
}

std::string_view Answers::stamped(base::Instant now) noexcept {
    write_number(content, stamp_offset_, stamp_digits, now.time_since_epoch().count());
    return content;
}

std::string_view Answers::stamped_and_varied(base::Instant now) noexcept {
    write_number(content, varied_offset_, varied_digits, ++variations_);
    return stamped(now);
}

std::optional<base::Instant> sent_at(std::string_view event_data) noexcept {
    const auto begin = event_data.find(stamp_mark);
    if (begin == std::string_view::npos) return std::nullopt;
    const char* const digits = event_data.data() + begin + stamp_mark.size();
    std::int64_t nanoseconds = 0;
    const auto [end, error] = std::from_chars(digits, event_data.data() + event_data.size(), nanoseconds);
    if (error != std::errc{}) return std::nullopt;
    return base::Instant{base::Nanoseconds{nanoseconds}};
}

}  // namespace weir::bench
