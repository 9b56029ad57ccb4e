// MetricsEndpoint: what the metrics listener serves: /metrics, /livez and /readyz; nothing else.
// Invariant: /livez is 200 as long as the process answers, in a drain too (P024); /readyz says whether to send traffic.
// Threads: one reactor's. The callbacks run on it, must not block, and outlive the endpoint.
#pragma once

#include "http/server.h"

#include <functional>
#include <string>
#include <string_view>

namespace weir::admin {

struct Readiness {
    bool ready = true;
    std::string why;  // one word or sentence, without secrets: "ready", "draining"
};

// What to answer, apart from sending it. `allow` is "" except for 405.
struct PlainReply {
    int status = 0;
    std::string_view content_type;
    std::string body;
    std::string_view allow;
};

class MetricsEndpoint final : public http::Handler {
public:
    MetricsEndpoint(std::function<std::string()> render_metrics, std::function<Readiness()> readiness);

    [[nodiscard]] PlainReply reply_to(std::string_view method, std::string_view path) const;

    [[nodiscard]] io::Task<void> handle(http::RequestSource& source, http::ResponseSink& sink) override;
    [[nodiscard]] io::Task<void> reject(http::Fault fault, std::string message, http::ResponseSink& sink) override;

private:
    std::function<std::string()> render_metrics_;
    std::function<Readiness()> readiness_;
};

}  // namespace weir::admin
