// Prober: asks every replica how it is and what it serves, each on its own beat, and publishes the answers.
// It uses its own connections, never those of the data workers; every probe has a deadline; no replica waits for
// another. Threads: all members on the control reactor's thread. Lifetime: stop() has ended before it is destroyed.
#pragma once

#include "base/time.h"
#include "config/pool.h"
#include "control/discovery_table.h"
#include "http/client.h"
#include "io/reactor.h"
#include "io/task.h"
#include "io/task_group.h"
#include "routing/replica_slot.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::control {

struct ProbeTarget {
    ReplicaName name;
    http::Origin origin;
    config::Engine engine{};
    config::Secret credential{};                             // sent as Bearer with every probe; empty = none
    base::Nanoseconds interval{std::chrono::seconds{5}};     // between the end of a round and the next, ±10 %
    base::Nanoseconds timeout{std::chrono::seconds{2}};      // of one question, connection included
    std::shared_ptr<routing::ReplicaSlot> slot;              // not null
};

// What changed, for logs and metrics.
struct HealthChange {
    ReplicaName name;
    routing::Health from{};
    routing::Health to{};
    std::string why;  // the last answer in words: "HTTP 503", "connection refused"; never the answer's text
};

class Prober {
public:
    using OnChange = std::function<void(const HealthChange&)>;
    // `reactor` and `board` outlive the prober. `on_crash` gets an exception that ended the probing of a replica: a
    // bug.
    Prober(io::Reactor& reactor, DiscoveryBoard& board, OnChange on_change, io::TaskGroup::OnCrash on_crash);
    Prober(const Prober&) = delete;
    Prober& operator=(const Prober&) = delete;
    ~Prober();

    // The replicas to probe from now on; new ones are asked at once. A replica that stays (same name, address and
    // engine) keeps its beat and its count of failures; one that goes away is asked no more and leaves the board.
    void set_targets(std::vector<ProbeTarget> targets);
    // Ends all probing; what is suspended is woken, so this takes no longer than a turn or two of the loop.
    [[nodiscard]] io::Task<void> stop();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace weir::control
