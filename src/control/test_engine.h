// TestEngine: an engine whose answers a test scripts by path, on the test's own reactor and a free port.
// Only tests include this. stop() before it is destroyed.
#pragma once

#include "control/question.h"
#include "http/client.h"
#include "http/server.h"
#include "io/block_on.h"
#include "io/event.h"
#include "io/listener.h"
#include "io/reactor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace weir::control {

class TestEngine final : public http::Handler {
public:
    explicit TestEngine(io::Reactor& reactor)
        : reactor_{reactor}, moved_{reactor}, server_{reactor, *this, http::ServerLimits{}}, listeners_{listen()} {
        acceptor_ = std::make_unique<io::Acceptor>(reactor, listeners_.take(0),
                                                   [this](int descriptor) { server_.adopt(descriptor); });
    }

    void answers(const std::string& path, Answer answer) { script_.insert_or_assign(path, std::move(answer)); }
    void keeps_silent(const std::string& path) { script_.insert_or_assign(path, std::nullopt); }
    [[nodiscard]] int count(const std::string& path) const { return counts_.contains(path) ? counts_.at(path) : 0; }
    [[nodiscard]] const std::string& last_authorization() const { return last_authorization_; }
    [[nodiscard]] io::Event& moved() { return moved_; }  // set at every request
    [[nodiscard]] http::Origin origin() const {
        return {.address = listeners_.address(), .authority = fmt::format("127.0.0.1:{}", listeners_.address().port())};
    }

    io::Task<void> stop() {
        acceptor_->drain_and_close();
        server_.begin_drain();
        co_await server_.finish_drain(base::monotonic_now());
    }

    io::Task<void> handle(http::RequestSource& source, http::ResponseSink& sink) override {
        const std::string path{source.head().path};
        ++counts_[path];
        last_authorization_ = source.head().fields.find("authorization").value_or("");
        moved_.set();
        const auto scripted = script_.find(path);
        if (scripted != script_.end() && !scripted->second.has_value()) {
            const base::Status gone =
                co_await reactor_.sleep({.deadline = base::never, .cancel = &source.client_gone()});
            EXPECT_FALSE(gone.has_value());
            co_return;
        }
        const Answer answer = scripted == script_.end() ? Answer{.status = 404, .body = {}} : *scripted->second;
        const base::Status sent = co_await sink.send(answer.status, {}, answer.body);
        static_cast<void>(sent);  // a client that gave up is part of some tests
    }
    io::Task<void> reject(http::Fault, std::string message, http::ResponseSink&) override {
        ADD_FAILURE() << "a probe was malformed: " << message;
        co_return;
    }

private:
    static io::ListenerSet listen() {
        return std::move(*io::ListenerSet::open(*io::SocketAddress::parse("127.0.0.1", 0), 1));
    }

    io::Reactor& reactor_;
    io::Event moved_;
    std::map<std::string, std::optional<Answer>> script_;
    std::map<std::string, int> counts_;
    std::string last_authorization_;
    http::Server server_;
    io::ListenerSet listeners_;
    std::unique_ptr<io::Acceptor> acceptor_;
};

}  // namespace weir::control
