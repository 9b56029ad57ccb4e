// Settlement: the record of one request that got past authentication, kept while it runs and settled exactly once,
// by destruction, whatever happens: metrics counted, clocks closed, the record handed to the ledger.
// Lifetime: lives in the request's coroutine frame; the services outlive it.
#pragma once

#include "base/time.h"
#include "gateway/refusal.h"
#include "gateway/services.h"
#include "model/record.h"

#include <optional>
#include <string>

namespace weir::gateway {

// Moments of one request; each is set once, by the stage that sees it.
struct Moments {
    base::Instant last_request_byte{};
    std::optional<base::Instant> dispatched;          // the first attempt began
    std::optional<base::Instant> attempt_began;       // the attempt that answered
    std::optional<base::Instant> upstream_first;      // its first output event (or body byte) was read
    std::optional<base::Instant> first_output_sent;   // handed to the client's socket
    std::optional<base::Instant> first_visible_sent;
    std::optional<base::Instant> last_output_sent;
    std::optional<base::Instant> last_upstream_byte;
    std::optional<std::uint64_t> tokens_in_first_event;
};

class Settlement {
public:
    Settlement(Services& services, base::Instant began);
    Settlement(const Settlement&) = delete;
    Settlement& operator=(const Settlement&) = delete;
    ~Settlement();

    model::RequestRecord record;
    Moments moments;

    void refused(const Refusal& refusal, model::Outcome outcome = model::Outcome::refused);
    // `status_sent` = 0 when no response had begun: recorded as 499.
    void client_closed(int status_sent);

private:
    void close_clocks(base::Instant now);
    Services& services_;
    base::Instant began_;
};

}  // namespace weir::gateway
