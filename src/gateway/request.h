// Request: one request from its head to its record: authenticate, read, inspect, alias, policy and eligibility, choose,
// attempt, settle. One coroutine walks it; each stage is one call and returns a refusal or goes on.
// Lifetime: lives in the frame of Gateway::handle; source, sink and services outlive it.
#pragma once

#include "gateway/attempt.h"
#include "gateway/inspect.h"
#include "gateway/refusal.h"
#include "gateway/route.h"
#include "gateway/selection.h"
#include "gateway/services.h"
#include "gateway/settlement.h"
#include "gateway/upstream_head.h"
#include "http/server.h"
#include "io/task.h"
#include "routing/choice.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace weir::gateway {

// Characters of a request id: [A-Za-z0-9_-]; 144 bits, so that ids of any number of gateways never meet.
inline constexpr std::size_t request_id_length = 24;

class Request {
public:
    Request(Services& services, http::RequestSource& source, http::ResponseSink& sink);
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    [[nodiscard]] io::Task<void> run();

private:
    [[nodiscard]] std::string_view id() const noexcept { return {id_.data(), id_.size()}; }
    [[nodiscard]] std::optional<auth::Entry> authenticate() const;
    // A refusal of a request that leaves no record.
    io::Task<void> refuse_unrecorded(BoxedRefusal refusal);
    io::Task<void> serve(Settlement& settlement);
    io::Task<void> list_models(Settlement& settlement, Operation operation);
    io::Task<void> generate(Settlement& settlement, Generate operation);

    [[nodiscard]] BoxedRefusal check_media_type() const;
    // False = the answer is made: refused, or nobody is there to get one.
    io::Task<bool> read_body(Settlement& settlement);
    // What is wanted of whom; a refusal is in the selection.
    [[nodiscard]] Selection select_pools(Settlement& settlement, model::Endpoint endpoint, const Inspected& inspected);
    void keep_of_head(Settlement& settlement);
    [[nodiscard]] std::optional<routing::Choice> choose(const Selection& selection);
    // Attempts until one answers, the budget is used up, or no replica is left to try.
    io::Task<void> dispatch(Settlement& settlement, const Selection& selection, const Inspected& inspected);
    struct Try;
    [[nodiscard]] std::unique_ptr<Try> prepare(Settlement& settlement, const Selection& selection,
                                               const Inspected& inspected, const routing::Choice& choice);
    [[nodiscard]] std::unique_ptr<Attempt> begin_attempt(Settlement& settlement, Try& attempted);
    void note_choice(Settlement& settlement, const AliasMember& member, const routing::Choice& choice);
    io::Task<void> refuse(Settlement& settlement, BoxedRefusal refusal,
                          model::Outcome outcome = model::Outcome::refused);

    Services& services_;
    http::RequestSource& source_;
    http::ResponseSink& sink_;
    // These own what the record's views show.
    std::shared_ptr<const Snapshot> snapshot_;
    std::shared_ptr<const auth::KeyTable> keys_;
    std::array<char, request_id_length> id_;
    std::string client_request_id_;
    std::string engine_version_;
    std::optional<auth::Entry> entry_;  // after authentication
    ForwardedFields forwarded_;
    std::optional<base::Nanoseconds> client_timeout_;
    std::string body_;
    std::string_view path_;  // of the operation; static storage
    std::vector<const routing::ReplicaSlot*> tried_;
    int attempts_ = 0;  // made, those that cost nothing included: they number the ids sent upstream
};

}  // namespace weir::gateway
