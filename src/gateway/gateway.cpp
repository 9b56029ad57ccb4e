#include "gateway/gateway.h"

#include "base/exception_text.h"
#include "gateway/refusal.h"
#include "gateway/request.h"
#include "gateway/request_id.h"

namespace weir::gateway {

using model::Reason;

namespace {

Reason reason_of(http::Fault fault) {
    switch (fault) {
        case http::Fault::malformed:
        case http::Fault::client_closed:
        case http::Fault::unsupported_version: return Reason::invalid_http;
        case http::Fault::head_too_large: return Reason::header_too_large;
        case http::Fault::body_too_large: return Reason::request_too_large;
        case http::Fault::slow: return Reason::request_timeout;
    }
    return Reason::invalid_http;
}

}  // namespace

Gateway::Gateway(Services& services, std::function<void(const std::string&)> on_bug)
    : services_{services}, on_bug_{std::move(on_bug)} {}

io::Task<void> Gateway::handle(http::RequestSource& source, http::ResponseSink& sink) {
    Request request{services_, source, sink};
    co_await request.run();
}

io::Task<void> Gateway::reject(http::Fault fault, std::string message, http::ResponseSink& sink) {
    const Refusal refusal{.reason = reason_of(fault), .message = std::move(message)};
    services_.metrics.reject(refusal.reason);
    const auto id = make_request_id(base::wall_now(), services_.random);
    const RefusalFields fields{refusal, {id.data(), id.size()}};
    const std::string body = error_body(refusal);
    const auto sent = co_await sink.send(refusal.status_to_send(), fields.all(), body);
    static_cast<void>(sent);
}

io::Task<void> Gateway::crashed(std::exception_ptr failure, http::ResponseSink& sink) {
    on_bug_(base::text_of(failure));
    if (sink.begun()) co_return;
    const Refusal refusal{.reason = Reason::internal_error,
                          .message = "The gateway failed while it handled this request; its operator's log says more."};
    const auto id = make_request_id(base::wall_now(), services_.random);
    const RefusalFields fields{refusal, {id.data(), id.size()}};
    const std::string body = error_body(refusal);
    const auto sent = co_await sink.send(refusal.status_to_send(), fields.all(), body);
    static_cast<void>(sent);
}

}  // namespace weir::gateway
