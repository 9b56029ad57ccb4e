// Attempt: one try of one request at one replica: connect, send, and relay what comes back.
// It ends as told in AttemptResult; a refusal in it was NOT sent when nothing had left for the client yet, so the
// caller may still try elsewhere. Threads: the worker's. Lifetime: everything referenced outlives run().
#pragma once

#include "base/inline_vector.h"
#include "base/result.h"
#include "gateway/refusal.h"
#include "gateway/services.h"
#include "gateway/settlement.h"
#include "gateway/stream_relay.h"
#include "gateway/unsent.h"
#include "http/server.h"
#include "io/task.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::gateway {

// What an attempt needs and does not own.
struct AttemptPlan {
    const Pool* pool = nullptr;
    const Replica* replica = nullptr;
    const Alias* alias = nullptr;
    std::unique_ptr<Unsent>* unsent = nullptr;  // freed at the commit
    bool hide_usage_event = false;
    std::uint64_t choices = 1;       // asked for
    bool stream = false;
    bool debug = false;              // the caller sees engine-private members and headers
    bool fresh_connection = false;
    base::Instant total_deadline{};  // of the whole request
    std::string_view request_id;
    std::size_t response_limit_bytes = 0;
};

struct AttemptResult {
    model::AttemptOutcome outcome{};
    bool answered = false;  // the client got a response (or its beginning), or has gone
    BoxedRefusal refusal;   // why it failed
};

using ResponseFields = base::InlineVector<http::Field, 8>;

class Attempt {
public:
    // The plan too outlives it.
    Attempt(Services& services, Settlement& settlement, http::RequestSource& source, http::ResponseSink& sink,
            const AttemptPlan& plan);
    [[nodiscard]] io::Task<AttemptResult> run();

private:
    // When a wait ends and what its end means.
    struct Limit {
        base::Instant at{};
        model::Reason reason{};
    };
    [[nodiscard]] Limit sooner(base::Nanoseconds allowance, model::Reason reason) const noexcept;
    [[nodiscard]] io::Wait wait_until(const Limit& limit) noexcept;

    // Each of these has its own task, so that while a stream is relayed only its own frames exist.
    io::Task<base::Result<http::Exchange>> connect(AttemptResult& failure);
    io::Task<const http::ResponseHead*> exchange_heads(http::Exchange& exchange, AttemptResult& failure);
    io::Task<AttemptResult> relay(http::Exchange& exchange, const http::ResponseHead& head);
    [[nodiscard, gnu::noinline]] AttemptResult finished(http::Exchange& exchange, AttemptResult result);
    io::Task<AttemptResult> relay_stream(http::Exchange& exchange, const http::ResponseHead& head);
    io::Task<AttemptResult> pump(http::Exchange& exchange, StreamRelay& relay);
    [[nodiscard]] base::Result<RelayVerdict> feed(http::Exchange& exchange, StreamRelay& relay);
    [[nodiscard]] AttemptResult interrupted(http::Exchange& exchange, const StreamRelay& relay,
                                            const base::Error& error, const Limit& limit);
    io::Task<AttemptResult> end_stream(http::Exchange& exchange, StreamRelay& relay, AttemptResult pumped);
    io::Task<void> drain_framing(http::Exchange& exchange);
    // `last` = what the relay has now completes the stream: the record's end goes first.
    [[nodiscard]] io::Task<base::Status> forward(StreamRelay& relay, bool last);
    [[nodiscard]] io::Task<base::Status> finish_write(io::Task<base::Status> writing, StreamRelay& relay);
    [[nodiscard]] io::Task<base::Status> forward_last(StreamRelay& relay);
    void note_forwarded(const StreamRelay& relay);
    void forget_output_since(const telemetry::Moments& before);
    void conclude(const StreamRelay& relay);
    void note_output(const StreamRelay& relay);
    io::Task<AttemptResult> finish_stream(StreamRelay& relay);
    io::Task<AttemptResult> break_stream(StreamRelay& relay, AttemptResult failure);
    io::Task<AttemptResult> relay_whole(http::Exchange& exchange, const http::ResponseHead& head);
    io::Task<AttemptResult> answer_whole(std::string body, int status);
    io::Task<AttemptResult> relay_refusal(http::Exchange& exchange, const http::ResponseHead& head);

    // False where the engine's completion_tokens are not those that the client gets: candidates of best_of that are not
    // shown; one choice of several, at engines that count no other.
    [[nodiscard]] bool counts_what_is_delivered() const noexcept;
    // Puts what the relay, or a whole answer, has told into the record.
    void note_answer(const Answer& answer);
    void note_usage(const StreamRelay& relay);
    void begin_response(int status, bool stream);
    [[nodiscard, gnu::noinline]] AttemptResult failure_of(const base::Error& error, const Limit& limit,
                                                          std::string_view doing, std::uint64_t bytes_received) const;
    [[nodiscard]] AttemptResult gone();
    [[nodiscard]] RelayPolicy relay_policy() const;
    // `server_timing` outlives the fields.
    void response_fields(ResponseFields& fields, std::string_view server_timing, bool stream) const;
    [[nodiscard]] telemetry::ServerTiming server_timing() const;

    Services& services_;
    Settlement& settlement_;
    http::RequestSource& source_;
    http::ResponseSink& sink_;
    const AttemptPlan& plan_;
    std::optional<StreamRelay> stream_;
    base::Instant began_{};
    std::uint64_t delivered_estimate_ = 0;
    bool framing_ended_ = false;  // the upstream body's last chunk was read
    bool concluded_ = false;  // the record's end is written: the answer is whole
};

}  // namespace weir::gateway
