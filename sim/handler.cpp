#include "sim/handler.h"

#include "base/random.h"
#include "base/text.h"
#include "sim/chat_exchange.h"
#include "sim/replies.h"
#include "sim/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace weir::sim {
namespace {

using http::Fault;

constexpr std::string_view chat_path = "/v1/chat/completions";
constexpr std::array get_paths{"/health", "/ping", "/version", "/load", "/metrics", "/v1/models"};
constexpr std::string_view text_path = "/v1/completions";
constexpr std::array post_paths{"/tokenize", "/v1/chat/completions", "/v1/completions", "/v1/embeddings"};

std::int64_t to_unix_seconds(base::WallTime time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

bool is_json_type(std::string_view type) {
    const auto name = type.substr(0, type.find(';'));
    return base::equals_ignoring_case(name.substr(0, name.find_last_not_of(' ') + 1), "application/json");
}

int status_of(Fault fault) {
    switch (fault) {
        case Fault::head_too_large: return 431;
        case Fault::body_too_large: return 413;
        case Fault::slow: return 408;
        case Fault::malformed:
        case Fault::client_closed:
        case Fault::unsupported_version: return 400;
    }
    return 400;
}

// Counts one more for as long as it lives.
class Counted {
public:
    explicit Counted(int& count) : count_{count} { ++count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count_; }

private:
    int& count_;
};

}  // namespace

SimHandler::SimHandler(io::Reactor& reactor, Runner& runner, ServedModel served, std::string api_key,
                       base::WallTime started_at)
    : reactor_{reactor},
      runner_{runner},
      served_{std::move(served)},
      api_key_{std::move(api_key)},
      started_at_{started_at} {}

io::Task<void> SimHandler::handle(http::RequestSource& source, http::ResponseSink& sink) {
    auto call = read_head(source.head());
    if (call.method == "POST") {
        auto body = co_await source.read_body();
        if (!body) {
            const auto fault = body.error().fault;
            if (fault != Fault::client_closed) co_await send(refuse(http_error(status_of(fault))), sink);
            co_return;
        }
        call.body = *std::move(body);
    }
    const bool generates = call.path == chat_path || call.path == text_path;
    if (call.method == "POST" && generates && call.authorized) {
        co_await chat(call, sink, source.client_gone());
        co_return;
    }
    auto reply = answer(call);
    co_await send(std::move(reply), sink);
}

io::Task<void> SimHandler::reject(Fault fault, std::string message, http::ResponseSink& sink) {
    auto error = http_error(status_of(fault));
    error.message = std::move(message);
    co_await send(refuse(error), sink);
}

SimHandler::Call SimHandler::read_head(const http::RequestHead& head) const {
    Call call{.method = std::string{head.method}, .path = std::string{head.path}};
    call.request_id = head.fields.find("x-request-id").value_or("");
    call.is_json = is_json_type(head.fields.find("content-type").value_or(""));
    const bool open = api_key_.empty() || !call.path.starts_with("/v1");
    call.authorized = open || head.fields.find("authorization").value_or("") == "Bearer " + api_key_;
    return call;
}

SimHandler::Reply SimHandler::answer(const Call& call) const {
    if (!call.authorized) return {.status = 401, .body = R"({"error":"Unauthorized"})"};
    const bool can_get = std::ranges::find(get_paths, call.path) != get_paths.end();
    const bool can_post = std::ranges::find(post_paths, call.path) != post_paths.end();
    if (can_get && (call.method == "GET" || call.method == "HEAD")) return answer_get(call.path);
    if (can_post && call.method == "POST") return answer_post(call);
    return refuse(http_error(can_get || can_post ? 405 : 404));
}

SimHandler::Reply SimHandler::answer_get(std::string_view path) const {
    if (path == "/version") return {.body = fmt::format(R"({{"version":"{}"}})", served_.version)};
    if (path == "/load") return {.body = fmt::format(R"({{"server_load":{}}})", chats_)};
    if (path == "/metrics")
        return {.body = runner_.metrics_text(), .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    if (path == "/v1/models") return {.body = models_list(served_, to_unix_seconds(started_at_))};
    return {.body = {}};  // /health and /ping: alive, nothing to say
}

SimHandler::Reply SimHandler::answer_post(const Call& call) const {
    return call.path == "/tokenize" ? tokenize(call) : embed(call);
}

SimHandler::Reply SimHandler::embed(const Call& call) const {
    if (!call.is_json) return refuse(invalid_body("Unsupported Media Type: Only 'application/json' is allowed"));
    const auto request = parse_embedding_request(call.body);
    if (!request) return refuse(request.error());
    if (!request->model.empty() && request->model != served_.name) return refuse(unknown_model(request->model));
    return {.body = embeddings_result(answer_head(call, "embd-", {}), *request)};
}

SimHandler::Reply SimHandler::tokenize(const Call& call) const {
    const auto request = parse_tokenize_request(call.body);
    if (!request) return refuse(request.error());
    if (!request->model.empty() && request->model != served_.name) return refuse(unknown_model(request->model));
    return {.body = tokenize_result(token_ids(request->text), request->extra_tokens, served_.context_tokens)};
}

io::Task<void> SimHandler::chat(const Call& call, http::ResponseSink& sink, io::Cancel& client_gone) {
    if (!call.is_json) {
        co_await send(refuse(invalid_body("Unsupported Media Type: Only 'application/json' is allowed")), sink);
        co_return;
    }
    auto request = call.path == text_path ? parse_completion_request(call.body) : parse_chat_request(call.body);
    if (!request) {
        co_await send(refuse(request.error()), sink);
        co_return;
    }
    auto plan = plan_chat(*std::move(request), served_);
    if (!plan) {
        co_await send(refuse(plan.error()), sink);
        co_return;
    }
    const Counted counted{chats_};
    auto head = answer_head(call, plan->request.is_text ? "cmpl-" : "chatcmpl-", plan->request.request_id);
    head.is_text = plan->request.is_text;
    ChatExchange exchange{reactor_, runner_, served_, *std::move(plan), std::move(head)};
    co_await exchange.run(sink, client_gone);
}

AnswerHead SimHandler::answer_head(const Call& call, std::string_view prefix, const std::string& own_id) const {
    auto id = own_id.empty() ? call.request_id : own_id;
    if (id.empty()) id = fmt::format("{:016x}{:016x}", base::thread_random()(), base::thread_random()());
    return {.id = fmt::format("{}{}", prefix, id), .model = served_.name, .created = to_unix_seconds(base::wall_now())};
}

io::Task<void> SimHandler::send(Reply reply, http::ResponseSink& sink) {
    const std::array fields{http::Field{.name = "content-type", .value = reply.content_type}};
    [[maybe_unused]] const auto sent = co_await sink.send(reply.status, fields, reply.body);
}

SimHandler::Reply SimHandler::refuse(const ApiError& error) { return {.status = error.status, .body = to_json(error)}; }

}  // namespace weir::sim
