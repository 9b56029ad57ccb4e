// Settlement: the record of one request that got past authentication, kept while it runs and settled exactly once,
// by destruction, whatever happens: metrics counted, clocks closed, the record handed to the ledger.
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
    Settlement(Services& services, base::Instant began);
    Settlement(const Settlement&) = delete;
    Settlement& operator=(const Settlement&) = delete;
    ~Settlement();

    model::RequestRecord record;
    telemetry::Moments moments;

    void refused(const Refusal& refusal, model::Outcome outcome = model::Outcome::refused);
    // What an attempt told of its answer is not the next one's.
    void forget_answer();
    // The whole answer is with the client.
    void served(int status);
    // `status_sent` = 0 when no response had begun: recorded as 499.
    void client_closed(int status_sent);

private:
    Services& services_;
    std::optional<base::Instant> served_at_;  // what is done for the connection afterwards is not the request's time
};

}  // namespace weir::gateway
