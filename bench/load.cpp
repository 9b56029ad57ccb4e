#include "bench/load.h"

#include "bench/answers.h"
#include "http/sse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

namespace weir::bench {
namespace {

constexpr std::size_t request_body_bytes = 2048;
constexpr std::size_t most_reported_failures = 5;
constexpr std::chrono::microseconds time_between_starts{200};  // a thousand connects at once would meet full backlogs
constexpr std::chrono::seconds settle_time{1};
constexpr std::chrono::seconds longest_start{60};

std::unexpected<base::Error> wrong(std::string what) {
    return base::fail(base::ErrorCode::protocol, "wrong answer: " + std::move(what));
}

}  // namespace

// What has come of one answer.
struct Load::Answer {
    base::Instant sent{};
    http::EventScanner scanner{};
    std::string text{};  // of a whole answer
    std::uint64_t chunks = 0;
    bool finished = false;  // finish_reason was seen
    bool done = false;  // [DONE] was seen
};

std::string make_request(const LoadOptions& options) {
    constexpr std::string_view words =
        "The weir holds the water back until the mill below can take it, and no longer. ";
    const auto front = fmt::format(R"({{"model":"{}","user":"{}","temperature":0.7,"max_tokens":256,"stream":{},)"
                                   R"("messages":[{{"role":"system","content":"You are a helpful assistant."}},)"
                                   R"({{"role":"user","content":")",
                                   options.model, to_text(options.plan), options.plan.streams());
    constexpr std::string_view back = R"("}]})";
    std::string body = front;
    while (body.size() + back.size() < request_body_bytes)
        body += words[(body.size() - front.size()) % words.size()];
    body += back;
    auto head = fmt::format(
        "POST {} HTTP/1.1\r\nhost: {}\r\nuser-agent: weir-bench-load\r\naccept: {}\r\n"
        "content-type: application/json\r\ncontent-length: {}\r\n",
        options.path, options.origin.authority, options.plan.streams() ? "text/event-stream" : "application/json",
        body.size());
    if (!options.authorization.empty()) head += fmt::format("authorization: {}\r\n", options.authorization);
    return head + "\r\n" + body;
}

Load::Load(io::Reactor& reactor, LoadOptions options)
    : reactor_{reactor},
      options_{std::move(options)},
      request_{make_request(options_)},
      pool_{reactor, {.idle_per_origin = options_.connections}},
      tasks_{reactor, [](std::exception_ptr) { std::terminate(); }},
      all_idle_{reactor} {}

io::Task<LoadReport> Load::run() {
    report_.resident_before = resident_of(options_.watched);
    if (options_.requests > 0) begin_window();
    for (std::size_t i = 0; i < options_.connections; ++i)
        tasks_.spawn(session(i));
    if (options_.plan.kind == PlanKind::idle)
        co_await hold_idle_streams();
    else if (options_.requests == 0)
        co_await measure_window();
    const auto empty = co_await tasks_.wait_empty({});
    static_cast<void>(empty);
    if (options_.requests > 0) end_window();
    co_return std::move(report_);
}

io::Task<void> Load::measure_window() {
    co_await sleep_until(reactor_.now() + options_.warmup);
    begin_window();
    co_await sleep_until(reactor_.now() + options_.window);
    end_window();
    stop_.fire();
}

io::Task<void> Load::hold_idle_streams() {
    const auto idle = co_await all_idle_.wait({.deadline = reactor_.now() + longest_start});
    if (!idle) fail(idle.error());
    if (options_.on_idle) options_.on_idle(idle_streams_);
    co_await sleep_until(reactor_.now() + settle_time);
    report_.resident_after = resident_of(options_.watched);
    begin_window();
    co_await sleep_until(reactor_.now() + options_.window);
    end_window();
    report_.requests = idle_streams_;
    stop_.fire();
}

io::Task<void> Load::sleep_until(base::Instant due) {
    const auto slept = co_await reactor_.sleep({.deadline = due, .cancel = &stop_});
    static_cast<void>(slept);
}

void Load::begin_window() {
    cpu_before_ = thread_times(options_.watched);
    began_ = base::monotonic_now();
    measuring_ = true;
}

void Load::end_window() {
    measuring_ = false;
    report_.window = base::monotonic_now() - began_;
    report_.cpu = used_between(cpu_before_, thread_times(options_.watched));
}

void Load::fail(const base::Error& error) {
    ++report_.failures;
    if (report_.first_failures.size() < most_reported_failures) report_.first_failures.push_back(error.message());
}

// Whether one more request may begin.
bool Load::take_turn() noexcept {
    if (stop_.fired() || (options_.requests > 0 && started_ >= options_.requests)) return false;
    ++started_;
    return true;
}

io::Task<void> Load::session(std::size_t index) {
    const auto offset = static_cast<std::int64_t>(index);
    base::Nanoseconds period{0};
    base::Instant due = reactor_.now() + time_between_starts * offset;
    if (options_.requests_per_second > 0) {
        const double seconds = static_cast<double>(options_.connections) / options_.requests_per_second;
        period = base::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
        due = reactor_.now() + period * offset / static_cast<std::int64_t>(options_.connections);
    }
    co_await sleep_until(due);
    while (take_turn()) {
        const auto status = co_await exchange_once();
        if (!status && !stop_.fired()) {
            fail(status.error());
            // A server that is not there must not be asked a million times.
            co_await sleep_until(reactor_.now() + std::chrono::milliseconds{20});
        }
        if (period.count() == 0) continue;
        due = std::max(due + period, reactor_.now());
        co_await sleep_until(due);
    }
}

io::Task<base::Status> Load::exchange_once() {
    const io::Wait wait{.deadline = reactor_.now() + options_.timeout, .cancel = &stop_};
    Answer answer{.sent = base::monotonic_now()};
    auto opened = co_await pool_.open(options_.origin, false, wait);
    if (!opened) co_return std::unexpected{std::move(opened).error().within("connecting")};
    http::Exchange exchange = *std::move(opened);
    if (!exchange.reused()) ++report_.connections_opened;
    const std::array<std::string_view, 1> slices{request_};
    const auto sent = co_await exchange.send(slices, wait);
    if (!sent) co_return std::unexpected{base::Error{sent.error()}.within("sending")};
    auto read = co_await read_answer(exchange, answer);
    if (!read) co_return std::unexpected{std::move(read).error().within("reading")};
    ++report_.answered;
    if (!measuring_) co_return base::Status{};
    ++report_.requests;
    report_.latency.add(base::monotonic_now() - answer.sent);
    co_return base::Status{};
}

io::Task<base::Status> Load::read_answer(http::Exchange& exchange, Answer& answer) {
    const io::Wait wait{.deadline = reactor_.now() + options_.timeout, .cancel = &stop_};
    const auto head = co_await exchange.read_head(wait);
    if (!head) co_return std::unexpected{head.error()};
    if ((*head)->status != 200) co_return wrong(fmt::format("status {}", (*head)->status));
    while (true) {
        const io::Wait next{.deadline = reactor_.now() + options_.timeout, .cancel = &stop_};
        const auto part = co_await exchange.read_body(next);
        if (!part) co_return std::unexpected{part.error()};
        if (measuring_) report_.bytes += part->bytes.size();
        const auto taken = take(answer, part->bytes);
        if (!taken) co_return taken;
        if (part->end) break;
    }
    if (!options_.plan.streams()) {
        const bool complete = answer.text.find("\"finish_reason\":\"stop\"") != std::string::npos &&
                              answer.text.find("\"usage\":{") != std::string::npos && answer.text.ends_with('}');
        if (!complete) co_return wrong("not a complete chat completion");
        co_return base::Status{};
    }
    if (answer.chunks != options_.plan.chunks)
        co_return wrong(fmt::format("{} chunks of {}", answer.chunks, options_.plan.chunks));
    if (!answer.finished || !answer.done) co_return wrong("the stream has no proper end");
    co_return base::Status{};
}

base::Status Load::take(Answer& answer, std::string_view bytes) {
    if (!options_.plan.streams()) {
        answer.text.append(bytes);
        return {};
    }
    if (const auto fed = answer.scanner.feed(bytes); !fed) return fed;
    std::optional<base::Instant> now;  // read once for all that came together
    while (const auto event = answer.scanner.next()) {
        const auto sent = sent_at(event->data);
        if (!sent) {
            answer.done = answer.done || event->data == "[DONE]";
            answer.finished =
                answer.finished || event->data.find("\"finish_reason\":\"stop\"") != std::string_view::npos;
            continue;
        }
        if (answer.chunks++ == 0) {
            now = base::monotonic_now();
            if (measuring_) report_.first_chunk.add(*now - answer.sent);
            if (options_.plan.kind == PlanKind::idle && ++idle_streams_ == options_.connections) all_idle_.set();
        }
        if (!measuring_) continue;
        ++report_.chunks;
        if (!options_.plan.has_interval()) continue;
        if (!now) now = base::monotonic_now();
        report_.chunk_delay.add(*now - *sent);
    }
    return {};
}

}  // namespace weir::bench
