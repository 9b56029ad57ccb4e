// SimHandler: the HTTP face of the simulated engine: finds the endpoint, checks the key, answers in vLLM's shapes.
// Threads: the reactor's. Lifetime: everything it is given outlives it; it outlives the server.
#pragma once

#include "base/time.h"
#include "http/server.h"
#include "sim/chat_plan.h"
#include "sim/replies.h"
#include "sim/runner.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::sim {

class SimHandler final : public http::Handler {
public:
    // `api_key` "" = open to everybody.
    SimHandler(io::Reactor& reactor, Runner& runner, ServedModel served, std::string api_key,
               base::WallTime started_at);

    [[nodiscard]] io::Task<void> handle(http::RequestSource& source, http::ResponseSink& sink) override;
    [[nodiscard]] io::Task<void> reject(http::Fault fault, std::string message, http::ResponseSink& sink) override;

private:
    // What is needed of the request's head, which does not live as long as the request.
    struct Call {
        std::string method;
        std::string path;
        std::string request_id{};
        bool authorized = false;
        bool is_json = false;
        std::string body{};
    };
    struct Reply {
        int status = 200;
        std::string body;
        std::string_view content_type = "application/json";
    };

    [[nodiscard]] Call read_head(const http::RequestHead& head) const;
    [[nodiscard]] Reply answer(const Call& call) const;
    [[nodiscard]] Reply answer_get(std::string_view path) const;
    [[nodiscard]] Reply answer_post(const Call& call) const;
    [[nodiscard]] Reply tokenize(const Call& call) const;
    [[nodiscard]] Reply embed(const Call& call) const;
    [[nodiscard]] io::Task<void> chat(const Call& call, http::ResponseSink& sink, io::Cancel& client_gone);
    [[nodiscard]] AnswerHead answer_head(const Call& call, std::string_view prefix, const std::string& own_id) const;
    [[nodiscard]] static io::Task<void> send(Reply reply, http::ResponseSink& sink);
    [[nodiscard]] static Reply refuse(const ApiError& error);

    io::Reactor& reactor_;
    Runner& runner_;
    ServedModel served_;
    std::string api_key_;
    base::WallTime started_at_;
    int chats_ = 0;  // being answered
};

}  // namespace weir::sim
