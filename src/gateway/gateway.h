// Gateway: the data listener's handler: each request gets a Request, each message that is none a refusal.
// Threads: one worker's. Lifetime: the services outlive it.
#pragma once

#include "gateway/services.h"
#include "http/server.h"

#include <exception>
#include <functional>
#include <string>

namespace weir::gateway {

class Gateway final : public http::Handler {
public:
    // `on_bug` is told the text of an exception that a request died of.
    Gateway(Services& services, std::function<void(const std::string&)> on_bug);
    [[nodiscard]] io::Task<void> handle(http::RequestSource& source, http::ResponseSink& sink) override;
    [[nodiscard]] io::Task<void> reject(http::Fault fault, std::string message, http::ResponseSink& sink) override;
    [[nodiscard]] io::Task<void> crashed(std::exception_ptr failure, http::ResponseSink& sink) override;

private:
    Services& services_;
    std::function<void(const std::string&)> on_bug_;
};

}  // namespace weir::gateway
