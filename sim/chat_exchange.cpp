#include "sim/chat_exchange.h"

#include <array>
#include <span>
#include <utility>

namespace weir::sim {
namespace {

using engine_model::FinishReason;

std::string_view to_text(FinishReason reason) {
    switch (reason) {
        case FinishReason::stop: return "stop";
        case FinishReason::length: return "length";
        case FinishReason::aborted: return "abort";
    }
    return "stop";
}

constexpr std::array json_fields{http::Field{.name = "content-type", .value = "application/json"}};
constexpr std::array stream_fields{http::Field{.name = "content-type", .value = "text/event-stream; charset=utf-8"},
                                   http::Field{.name = "cache-control", .value = "no-cache"}};

}  // namespace

// One of the n answers: what the engine has committed and what was said of it.
class ChatExchange::Choice final : public StepListener {
public:
    Choice(ChatExchange& exchange, const ChoicePlan& plan, int index)
        : narrator{plan.script, plan.stop ? std::optional{plan.stop->text_bytes} : std::nullopt, plan.held_back},
          plan_{plan},
          exchange_{exchange},
          index_{index} {}

    void on_tokens(int tokens) override {
        steps.push_back(tokens);
        committed += tokens;
        exchange_.changed_.set();
    }
    void on_finished(FinishReason reason) override {
        reason_ = reason;
        exchange_.changed_.set();
    }
    void on_shutdown() override {
        exchange_.shut_down_ = true;
        exchange_.changed_.set();
    }

    [[nodiscard]] int index() const noexcept { return index_; }
    [[nodiscard]] bool ended() const noexcept { return reason_.has_value(); }
    [[nodiscard]] std::string_view finish_reason() const { return to_text(reason_.value_or(FinishReason::stop)); }
    // The stop string that ended it, if the engine got so far.
    [[nodiscard]] std::optional<std::string_view> stop_reason() const {
        if (!plan_.stop || reason_ != FinishReason::stop) return std::nullopt;
        return plan_.stop->stop;
    }

    std::optional<engine_model::RequestId> id;
    std::vector<int> steps;  // tokens of each step that has not been told yet
    int committed = 0;
    int told = 0;  // tokens of the events so far
    Narrator narrator;

private:
    const ChoicePlan& plan_;
    ChatExchange& exchange_;
    int index_;
    std::optional<FinishReason> reason_;
};

ChatExchange::ChatExchange(io::Reactor& reactor, Runner& runner, const ServedModel& served, ChatPlan plan,
                           AnswerHead head)
    : changed_{reactor}, runner_{runner}, served_{served}, plan_{std::move(plan)}, head_{std::move(head)} {
    for (int index = 0; const auto& choice : plan_.choices)
        choices_.push_back(std::make_unique<Choice>(*this, choice, index++));
    unfinished_ = choices_.size();
}

ChatExchange::~ChatExchange() {
    for (const auto& choice : choices_)
        if (choice->id) runner_.withdraw(*choice->id);
}

io::Task<void> ChatExchange::run(http::ResponseSink& sink, io::Cancel& client_gone) {
    if (!submit()) {
        const auto body = to_json(http_error(503));
        [[maybe_unused]] const auto sent = co_await sink.send(503, json_fields, body);
        co_return;
    }
    if (plan_.request.stream)
        co_await stream(sink, client_gone);
    else
        co_await answer_whole(sink, client_gone);
}

bool ChatExchange::submit() {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        const auto id = runner_.submit(plan_.choices[i].spec, *choices_[i]);
        if (!id) return false;
        choices_[i]->id = *id;
    }
    return true;
}

io::Task<void> ChatExchange::stream(http::ResponseSink& sink, io::Cancel& client_gone) {
    sink.begin_stream(200, stream_fields);
    while (unfinished_ > 0) {
        changed_.reset();
        const auto events = take_events();
        if (unfinished_ == 0) {
            const auto last = last_events();
            const std::array<std::string_view, 2> slices{events, last};
            const auto told = co_await sink.write(slices);
            if (!told) co_return;
            // A packet of its own, as vLLM's server sends it: readers meet the end behind [DONE], not with it.
            [[maybe_unused]] const auto ended = co_await sink.end_stream({});
            co_return;
        }
        // Without events the write only sends the head, as an engine does before its first token.
        const std::array<std::string_view, 1> one{events};
        const auto slices = std::span<const std::string_view>{one}.first(events.empty() ? 0 : 1);
        const auto written = co_await sink.write(slices);
        if (!written) co_return;
        const auto waited = co_await changed_.wait({.cancel = &client_gone});
        if (!waited || shut_down_) break;
    }
    sink.abort();
}

io::Task<void> ChatExchange::answer_whole(http::ResponseSink& sink, io::Cancel& client_gone) {
    while (!all_ended()) {
        changed_.reset();
        const auto waited = co_await changed_.wait({.cancel = &client_gone});
        if (!waited) co_return;
        if (shut_down_ && !all_ended()) {
            const auto body = to_json(http_error(500));
            [[maybe_unused]] const auto sent = co_await sink.send(500, json_fields, body);
            co_return;
        }
    }
    std::vector<AnsweredChoice> answered;
    for (const auto& choice : choices_) {
        [[maybe_unused]] const auto all_text = choice->narrator.say(choice->committed);
        answered.push_back({.text = choice->narrator.text(),
                            .finish_reason = choice->finish_reason(),
                            .stop_reason = choice->stop_reason()});
        choice->told = choice->committed;
    }
    const auto body = completion(head_, answered, usage(), served_.fingerprint);
    [[maybe_unused]] const auto sent = co_await sink.send(200, json_fields, body);
}

std::string ChatExchange::take_events() {
    std::string out;
    bool anything = false;
    for (const auto& choice : choices_)
        anything = anything || !choice->steps.empty();
    if (!anything) return out;
    if (!std::exchange(roles_sent_, true) && !head_.is_text)
        for (const auto& choice : choices_)
            out += role_event(head_, choice->index(), running_usage());
    for (const auto& choice : choices_)
        append_steps(out, *choice);
    return out;
}

// One event for each step, whatever piled up while the client was slow; the last one carries the finish reason.
void ChatExchange::append_steps(std::string& out, Choice& choice) {
    const auto steps = std::exchange(choice.steps, {});
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool is_last = choice.ended() && i + 1 == steps.size();
        std::string text{choice.narrator.say(steps[i])};
        choice.told += steps[i];
        std::optional<ChunkEnd> end;
        if (is_last) {
            text += choice.narrator.finish();
            --unfinished_;
            end =
                ChunkEnd{.finish_reason = choice.finish_reason(),
                         .stop_reason = choice.stop_reason(),
                         .fingerprint = unfinished_ == 0 ? std::string_view{served_.fingerprint} : std::string_view{}};
        }
        // Text that a stop string may still swallow makes no event, as there.
        if (text.empty() && !is_last) continue;
        out += content_event(head_, choice.index(), text, running_usage(), end);
    }
}

std::string ChatExchange::last_events() const {
    std::string out;
    if (plan_.request.include_usage) out += usage_event(head_, usage());
    out += done_event;
    return out;
}

bool ChatExchange::all_ended() const noexcept {
    for (const auto& choice : choices_)
        if (!choice->ended()) return false;
    return true;
}

Usage ChatExchange::usage() const noexcept {
    Usage usage{.prompt_tokens = plan_.request.prompt_tokens};
    for (const auto& choice : choices_)
        usage.completion_tokens += choice->told;
    return usage;
}

std::optional<Usage> ChatExchange::running_usage() const {
    if (!plan_.request.continuous_usage) return std::nullopt;
    return usage();
}

}  // namespace weir::sim
