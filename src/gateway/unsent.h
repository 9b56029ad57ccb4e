// Unsent: what of a request is needed only to send it, once or again elsewhere. Freed when the response begins, for
// from then on nobody sends it: a stream that waits for minutes does not hold it.
#pragma once

#include "base/inline_vector.h"
#include "base/time.h"
#include "gateway/inspect.h"
#include "gateway/selection.h"
#include "gateway/upstream_body.h"
#include "gateway/upstream_head.h"
#include "routing/replica_slot.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weir::gateway {

struct Unsent {
    ForwardedFields forwarded;
    std::optional<base::Nanoseconds> client_timeout;
    std::string body;  // the client's
    Inspected inspected;
    Selection selection;
    base::InlineVector<const routing::ReplicaSlot*, 2> tried;
    std::uint32_t most_tries = 1;  // the largest budget of a pool that was tried
    // For the replica that was chosen last. They view what stands above.
    std::string head;
    std::optional<UpstreamBody> upstream_body;
    std::string decision;  // for x-weir-decision
};

}  // namespace weir::gateway
