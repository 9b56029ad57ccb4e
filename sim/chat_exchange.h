// ChatExchange: one chat completion on its way: submits the choices, turns every step into one event, answers.
// Invariant: when it dies, no choice of it is left in the engine. Threads: the reactor's.
#pragma once

#include "http/server.h"
#include "io/event.h"
#include "io/task.h"
#include "sim/chat_plan.h"
#include "sim/replies.h"
#include "sim/runner.h"
#include "sim/script.h"

#include <memory>
#include <string>
#include <vector>

namespace weir::sim {

class ChatExchange {
public:
    // All references outlive the exchange.
    ChatExchange(io::Reactor& reactor, Runner& runner, const ServedModel& served, ChatPlan plan, AnswerHead head);
    ChatExchange(const ChatExchange&) = delete;
    ChatExchange& operator=(const ChatExchange&) = delete;
    ~ChatExchange();

    // Runs to the end of the answer, or until the client has gone or the engine shuts down.
    [[nodiscard]] io::Task<void> run(http::ResponseSink& sink, io::Cancel& client_gone);

private:
    class Choice;

    [[nodiscard]] bool submit();
    [[nodiscard]] io::Task<void> stream(http::ResponseSink& sink, io::Cancel& client_gone);
    [[nodiscard]] io::Task<void> answer_whole(http::ResponseSink& sink, io::Cancel& client_gone);
    // The events of everything that has happened since the last call.
    [[nodiscard]] std::string take_events();
    void append_steps(std::string& out, Choice& choice);
    [[nodiscard]] std::string last_events() const;
    [[nodiscard]] bool all_ended() const noexcept;
    [[nodiscard]] Usage usage() const noexcept;
    [[nodiscard]] std::optional<Usage> running_usage() const;

    io::Event changed_;
    Runner& runner_;
    const ServedModel& served_;
    ChatPlan plan_;
    AnswerHead head_;
    std::vector<std::unique_ptr<Choice>> choices_;
    std::size_t unfinished_ = 0;  // choices whose last event was not made yet
    bool roles_sent_ = false;
    bool shut_down_ = false;
};

}  // namespace weir::sim
