// Upstream: a mock of an OpenAI-compatible engine that costs as little as it can: one thread, answers made beforehand,
// each HTTP chunk one event. What it answers to a chat request is the request's own Plan.
// It trusts its peers: a request has a Content-Length and at most 1 MiB, and the next one comes behind the answer.
// Threads: the reactor's. It runs until the process ends.
#pragma once

#include "base/result.h"
#include "bench/answers.h"
#include "bench/plan.h"
#include "io/cancel.h"
#include "io/listener.h"
#include "io/reactor.h"
#include "io/socket.h"
#include "io/task.h"
#include "io/task_group.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace weir::bench {

class Upstream {
public:
    Upstream(io::Reactor& reactor, int listening_descriptor);
    Upstream(const Upstream&) = delete;
    Upstream& operator=(const Upstream&) = delete;

private:
    struct Connection;

    [[nodiscard]] io::Task<void> serve(int descriptor);
    // Reads one request into connection.request. False: the peer has gone, or sends what is no request.
    [[nodiscard]] io::Task<bool> read_request(Connection& connection);
    [[nodiscard]] io::Task<bool> answer(Connection& connection);
    [[nodiscard]] io::Task<bool> stream(Connection& connection, Plan plan);
    [[nodiscard]] io::Task<bool> send_paced(Connection& connection, Plan plan);
    [[nodiscard]] io::Task<bool> send_burst(Connection& connection, Plan plan);
    [[nodiscard]] io::Task<bool> write(Connection& connection, std::string_view bytes);

    io::Reactor& reactor_;
    Answers answers_;
    io::TaskGroup tasks_;
    std::unique_ptr<char[]> buffer_;
    std::uint64_t streams_ = 0;
    io::Acceptor acceptor_;
};

}  // namespace weir::bench
