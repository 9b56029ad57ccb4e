// Load: a closed-loop load generator over the project's own HTTP client. Each session sends one chat request after the
// other on a kept connection and checks every answer. It measures a window of time, or a number of requests.
// Threads: the reactor's. Lifetime: the reactor outlives it; run() is awaited once.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "bench/plan.h"
#include "bench/process_meter.h"
#include "bench/samples.h"
#include "http/client.h"
#include "io/cancel.h"
#include "io/event.h"
#include "io/reactor.h"
#include "io/task.h"
#include "io/task_group.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weir::bench {

struct LoadOptions {
    http::Origin origin;
    std::string path = "/v1/chat/completions";
    std::string authorization{};      // "" = none
    std::string model = "bench-model";
    Plan plan{};
    std::size_t connections = 1;
    std::uint64_t requests = 0;                    // 0: by time
    base::Nanoseconds warmup{0};                   // by time: before the window
    base::Nanoseconds window{0};                   // by time. Idle: how long the streams are held
    double requests_per_second = 0;                // of all sessions together; 0 = as fast as answers come
    base::Nanoseconds timeout{std::chrono::seconds{60}};  // of one read
    std::vector<int> watched{};                    // processes whose CPU time and memory are measured
    std::function<void(std::size_t)> on_idle{};    // idle only: called once, when all streams that can be are open
};

struct LoadReport {
    std::uint64_t requests = 0;  // answered well within the window
    std::uint64_t answered = 0;  // well, in all, the warm-up included
    std::uint64_t failures = 0;  // in all
    std::vector<std::string> first_failures{};
    std::uint64_t connections_opened = 0;
    std::uint64_t chunks = 0;    // content events
    std::uint64_t bytes = 0;     // decoded body bytes
    base::Nanoseconds window{0};
    Samples latency{};           // from sending to the end of the answer
    Samples first_chunk{};       // from sending to the first content event
    Samples chunk_delay{};       // from the upstream's send to our read
    ThreadTimes cpu{};
    Resident resident_before{};  // idle only: without and with all streams open
    Resident resident_after{};
};

class Load {
public:
    Load(io::Reactor& reactor, LoadOptions options);
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    [[nodiscard]] io::Task<LoadReport> run();

private:
    struct Answer;

    [[nodiscard]] io::Task<void> session(std::size_t index);
    [[nodiscard]] io::Task<base::Status> exchange_once();
    [[nodiscard]] io::Task<base::Status> read_answer(http::Exchange& exchange, Answer& answer);
    [[nodiscard]] base::Status take(Answer& answer, std::string_view bytes);
    [[nodiscard]] bool take_turn() noexcept;
    [[nodiscard]] io::Task<void> sleep_until(base::Instant due);
    [[nodiscard]] io::Task<void> measure_window();
    [[nodiscard]] io::Task<void> hold_idle_streams();
    void begin_window();
    void end_window();
    void fail(const base::Error& error);

    io::Reactor& reactor_;
    LoadOptions options_;
    std::string request_;
    http::ClientPool pool_;
    io::TaskGroup tasks_;
    io::Cancel stop_;
    io::Event all_idle_;
    LoadReport report_;
    ThreadTimes cpu_before_;
    base::Instant began_{};
    std::uint64_t started_ = 0;
    std::size_t idle_streams_ = 0;
    bool measuring_ = false;
};

// The request: head and a JSON body of exactly 2048 bytes.
[[nodiscard]] std::string make_request(const LoadOptions& options);

}  // namespace weir::bench
