// Request: one request from its head to its record: authenticate, read, inspect, alias, policy and eligibility, choose,
// attempt, settle. One coroutine walks it; each stage is one call and returns a refusal or goes on.
// Lifetime: lives in the frame of Gateway::handle; source, sink and services outlive it.
#pragma once

#include "gateway/attempt.h"
#include "gateway/inspect.h"
#include "gateway/refusal.h"
#include "gateway/request_id.h"
#include "gateway/route.h"
#include "gateway/selection.h"
#include "gateway/services.h"
#include "gateway/settlement.h"
#include "gateway/unsent.h"
#include "http/server.h"
#include "io/task.h"
#include "routing/choice.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

namespace weir::gateway {

class Request {
public:
    Request(Services& services, http::RequestSource& source, http::ResponseSink& sink);
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    [[nodiscard]] io::Task<void> run();

private:
    using ReadBody = std::expected<std::string, http::BodyError>;

    [[nodiscard]] std::string_view id() const noexcept { return {id_.data(), id_.size()}; }
    [[nodiscard]] std::optional<auth::Entry> authenticate(base::WallTime now) const;
    // A refusal of a request that leaves no record.
    io::Task<void> refuse_unrecorded(BoxedRefusal refusal);
    // The stages are no tasks but where they wait, so that a request which waits has few frames.
    io::Task<void> serve();
    io::Task<void> list_models(Operation operation);
    io::Task<void> generate(Generate operation);
    io::Task<void> generate_when_read(io::Task<ReadBody> reading);
    io::Task<void> generate_from(ReadBody read);
    io::Task<void> refuse_body(const http::BodyError& error);

    [[nodiscard]] BoxedRefusal check_media_type() const;
    // What is wanted of whom; nullptr = at least one pool can serve it.
    [[nodiscard]] BoxedRefusal inspect_and_select();
    void keep_of_head();
    [[nodiscard]] std::optional<routing::Choice> choose();
    // Attempts until one answers, the budget is used up, or no replica is left to try.
    io::Task<void> dispatch();
    struct Try;
    // Not inlined, and so for Attempt's: what dispatch() has inlined is part of its frame, which waits with the
    // request. nullptr = there is to be no other.
    [[nodiscard, gnu::noinline]] std::unique_ptr<Try> next_try();
    io::Task<void> refuse_unanswered(AttemptResult last);
    [[nodiscard]] std::unique_ptr<Try> prepare(const routing::Choice& choice);
    [[nodiscard, gnu::noinline]] Attempt& begin_attempt(Try& attempted);
    void note_choice(const AliasMember& member, const routing::Choice& choice);
    io::Task<void> refuse(BoxedRefusal refusal, model::Outcome outcome = model::Outcome::refused);

    Services& services_;
    http::RequestSource& source_;
    http::ResponseSink& sink_;
    // These own what the record's views show.
    std::shared_ptr<const Snapshot> snapshot_;
    std::shared_ptr<const auth::KeyTable> keys_;
    RequestId id_{};
    std::string client_request_id_;
    std::string trace_id_;
    std::string engine_version_;
    std::uint32_t tenant_ = 0;  // after authentication: an index into the snapshot's
    int attempts_ = 0;  // made, those that cost nothing included: they number the ids sent upstream
    std::string_view path_;  // of the operation; static storage
    std::unique_ptr<Unsent> unsent_;  // until the response begins
    std::optional<Settlement> settlement_;  // after authentication
};

}  // namespace weir::gateway
