// Settlement: the record of one request that got past authentication, kept while it runs and settled exactly once,
// by destruction, whatever happens: metrics counted, clocks closed, the last frame in the spool.
// The order that begin() and write_end() keep is what makes a record survive the death of the process: nothing of the
// request is done before its begin is in the spool, and its last bytes leave only when its end is.
// Lifetime: lives in the request's coroutine frame; the services outlive it.
#pragma once

#include "base/time.h"
#include "gateway/refusal.h"
#include "gateway/services.h"
#include "model/record.h"
#include "telemetry/clocks.h"

#include <optional>

namespace weir::gateway {

class Settlement {
public:
    Settlement(Services& services, base::WallTime time, base::Instant began);
    Settlement(const Settlement&) = delete;
    Settlement& operator=(const Settlement&) = delete;
    ~Settlement();

    model::RequestRecord record;
    telemetry::Moments moments;

    // With what the head told in the record. False = the spool has no room: the request is to be refused, and leaves
    // no record.
    [[nodiscard]] bool begin();

    void refused(const Refusal& refusal, model::Outcome outcome = model::Outcome::refused);
    // What an attempt told of its answer is not the next one's.
    void forget_answer();
    // Of the attempt that is the last in the record.
    void attempt_ended(model::AttemptOutcome outcome, base::Instant now);
    // The answer is whole.
    void served(int status);
    // `status_sent` = 0 when no response had begun: recorded as 499.
    void client_closed(int status_sent);

    // The next write ends the response, and the record says how, should it arrive.
    void write_end();
    // It did. Without this, and when the record changes after write_end(), the end is written again.
    void delivered();

private:
    [[nodiscard]] bool end_stands() const noexcept;

    Services& services_;
    ledger::Ticket ticket_;
    bool begun_ = false;
    bool changed_ = false;  // since end_written_at_
    std::optional<base::Instant> end_written_at_;
    std::optional<base::Instant> delivered_at_;  // what is done for the connection afterwards is not the request's time
};

}  // namespace weir::gateway
