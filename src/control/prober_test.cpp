#include "control/prober.h"

#include "control/test_engine.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace weir::control {
namespace {

using namespace std::chrono_literals;
using config::Engine;
using routing::Health;

constexpr std::string_view loading = R"({"error":{"message":"Loading model","type":"unavailable_error","code":503}})";
constexpr std::string_view models =
    R"({"object":"list","data":[{"id":"chat","root":"org/model","owned_by":"vllm","max_model_len":4096}]})";

// An engine, a prober that looks at it, and what the prober said. One reactor, so one thread.
class ProberTest : public testing::Test {
protected:
    ProberTest()
        : engine_{*reactor_},
          prober_{*reactor_, board_, [this](const HealthChange& change) { heard(change); },
                  [](const std::exception_ptr&) { ADD_FAILURE() << "a probe crashed"; }} {}

    void heard(const HealthChange& change) {
        changes_.push_back(change);
        health_requests_at_change_.push_back(engine_.count("/health"));
        engine_.moved().set();
    }

    [[nodiscard]] ProbeTarget target(Engine engine) {
        return {.name = {.pool = "ar", .url = "http://" + engine_.origin().authority},
                .origin = engine_.origin(),
                .engine = engine,
                .interval = 1ms,
                .timeout = 5s,
                .slot = slot_};
    }

    // Runs the loop until `condition` holds (looked at whenever the engine or the prober did something), then stops the
    // prober and the engine.
    void run_until(std::function<bool()> condition) { io::block_on(*reactor_, drive(*this, std::move(condition))); }
    static io::Task<void> drive(ProberTest& self, std::function<bool()> condition) {
        const bool came = co_await self.comes(condition);
        EXPECT_TRUE(came) << "what was waited for did not come";
        co_await self.finish();
    }
    io::Task<bool> comes(std::function<bool()> condition) {
        const base::Instant deadline = base::monotonic_now() + 20s;
        while (!condition()) {
            engine_.moved().reset();
            const base::Status moved = co_await engine_.moved().wait({.deadline = deadline});
            if (!moved) co_return false;
        }
        co_return true;
    }
    io::Task<void> finish() {
        co_await prober_.stop();
        co_await engine_.stop();
    }

    std::unique_ptr<io::Reactor> reactor_ = std::move(*io::Reactor::create());
    TestEngine engine_;
    std::shared_ptr<routing::ReplicaSlot> slot_ = std::make_shared<routing::ReplicaSlot>();
    DiscoveryBoard board_;
    std::vector<HealthChange> changes_;
    std::vector<int> health_requests_at_change_;
    Prober prober_;
};

TEST_F(ProberTest, AHealthyEngineIsDiscovered) {
    engine_.answers("/health", {200, ""});
    engine_.answers("/v1/models", {200, std::string{models}});
    engine_.answers("/version", {200, R"({"version":"0.22.1"})"});
    ProbeTarget wanted = target(Engine::vllm);
    wanted.credential = config::Secret{"upstream-key"};
    const ReplicaName name = wanted.name;
    prober_.set_targets({wanted});
    run_until(
        [&] { return board_.snapshot()->contains(name) && board_.snapshot()->at(name).engine_version == "0.22.1"; });
    const engine::Discovery found = board_.snapshot()->at(name);
    EXPECT_EQ(found.model_ids, std::vector<std::string>{"chat"});
    EXPECT_EQ(found.model_path, "org/model");
    EXPECT_EQ(found.context_tokens, 4096U);
    EXPECT_EQ(slot_->health(), Health::healthy);
    EXPECT_TRUE(slot_->last_probe().has_value());
    EXPECT_EQ(engine_.last_authorization(), "Bearer upstream-key");
    ASSERT_EQ(changes_.size(), 1U);
    EXPECT_EQ(changes_[0].from, Health::unknown);
    EXPECT_EQ(changes_[0].to, Health::healthy);
}

TEST_F(ProberTest, LlamacppTellsItsProperties) {
    engine_.answers("/health", {200, R"({"status":"ok"})"});
    engine_.answers("/v1/models", {200, R"({"data":[{"id":"m","meta":{"n_ctx":1024}}]})"});
    engine_.answers("/props",
                    {200, R"({"build_info":"b10587-3f","total_slots":4,"default_generation_settings":{"n_ctx":512}})"});
    const ReplicaName name = target(Engine::llamacpp).name;
    prober_.set_targets({target(Engine::llamacpp)});
    run_until([&] { return board_.snapshot()->contains(name) && board_.snapshot()->at(name).slots == 4U; });
    EXPECT_EQ(board_.snapshot()->at(name).engine_version, "b10587-3f");
    EXPECT_EQ(board_.snapshot()->at(name).context_tokens, 512U);
    EXPECT_EQ(engine_.last_authorization(), "");
}

TEST_F(ProberTest, AServerOfTheApiNeedsOnlyItsListOfModels) {
    engine_.answers("/v1/models", {200, std::string{models}});
    const ReplicaName name = target(Engine::openai).name;
    prober_.set_targets({target(Engine::openai)});
    run_until([&] { return board_.snapshot()->contains(name); });
    EXPECT_EQ(slot_->health(), Health::healthy);
    EXPECT_EQ(engine_.count("/health"), 0);
}

TEST_F(ProberTest, LoadingIsNotUsableAtOnceAndOneSuccessRecovers) {
    engine_.answers("/health", {503, std::string{loading}});
    prober_.set_targets({target(Engine::llamacpp)});
    run_until([&] {
        if (changes_.size() == 1) engine_.answers("/health", {200, ""});
        return changes_.size() == 2;
    });
    EXPECT_EQ(changes_[0].to, Health::loading);
    EXPECT_EQ(changes_[0].why, "HTTP 503");
    EXPECT_EQ(health_requests_at_change_[0], 1);
    EXPECT_EQ(changes_[1].to, Health::healthy);
    EXPECT_TRUE(slot_->usable());
}

TEST_F(ProberTest, ThreeFailuresInARowAreNeeded) {
    engine_.answers("/health", {500, ""});
    prober_.set_targets({target(Engine::vllm)});
    run_until([&] { return !changes_.empty(); });
    EXPECT_EQ(changes_[0].to, Health::unhealthy);
    EXPECT_EQ(health_requests_at_change_[0], 3);
    EXPECT_FALSE(slot_->usable());
}

TEST_F(ProberTest, WhatWasDiscoveredIsForgottenWithTheEnginesHealth) {
    engine_.answers("/health", {200, ""});
    engine_.answers("/v1/models", {200, std::string{models}});
    const ReplicaName name = target(Engine::vllm).name;
    prober_.set_targets({target(Engine::vllm)});
    run_until([&] {
        if (board_.snapshot()->contains(name)) engine_.answers("/health", {503, ""});
        return changes_.size() == 2;
    });
    EXPECT_EQ(changes_[1].to, Health::unhealthy);
    EXPECT_TRUE(board_.snapshot()->empty());
}

TEST_F(ProberTest, AnEngineThatSaysNothingIsGivenUpAtTheDeadline) {
    engine_.keeps_silent("/health");
    ProbeTarget wanted = target(Engine::vllm);
    wanted.timeout = 10ms;
    prober_.set_targets({wanted});
    run_until([&] { return !changes_.empty(); });
    EXPECT_EQ(changes_[0].to, Health::unhealthy);
    EXPECT_EQ(health_requests_at_change_[0], 3);
}

TEST_F(ProberTest, AnEndlessAnswerIsAFailure) {
    engine_.answers("/health", {200, std::string(1024 * 1024 + 1, 'x')});
    prober_.set_targets({target(Engine::vllm)});
    run_until([&] { return !changes_.empty(); });
    EXPECT_EQ(changes_[0].to, Health::unhealthy);
}

TEST_F(ProberTest, NobodyThereIsAFailureWithItsReason) {
    ProbeTarget wanted = target(Engine::vllm);
    wanted.origin.address = *io::SocketAddress::parse("127.0.0.1", 1);
    prober_.set_targets({wanted});
    run_until([&] { return !changes_.empty(); });
    EXPECT_EQ(changes_[0].to, Health::unhealthy);
    EXPECT_NE(changes_[0].why.find("efused"), std::string::npos) << changes_[0].why;
}

TEST_F(ProberTest, StopDoesNotWaitForAnEngineThatHangs) {
    engine_.keeps_silent("/health");
    ProbeTarget wanted = target(Engine::vllm);
    wanted.timeout = 1h;
    prober_.set_targets({wanted});
    const base::Instant begun = base::monotonic_now();
    run_until([&] { return engine_.count("/health") == 1; });
    EXPECT_LT(base::monotonic_now() - begun, 10s);
    EXPECT_EQ(slot_->health(), Health::unknown);
    EXPECT_TRUE(changes_.empty());
}

TEST_F(ProberTest, OneThatHangsDoesNotDelayAnother) {
    engine_.keeps_silent("/health");
    engine_.answers("/v1/models", {200, std::string{models}});
    ProbeTarget hanging = target(Engine::vllm);
    hanging.timeout = 1h;
    ProbeTarget other = target(Engine::openai);
    other.name.pool = "other";
    other.slot = std::make_shared<routing::ReplicaSlot>();
    prober_.set_targets({hanging, other});
    run_until([&] { return other.slot->health() == Health::healthy; });
    EXPECT_EQ(slot_->health(), Health::unknown);
}

TEST_F(ProberTest, AReloadKeepsTheCountOfFailures) {
    engine_.answers("/health", {500, ""});
    prober_.set_targets({target(Engine::vllm)});
    bool reloaded = false;
    run_until([&] {
        if (engine_.count("/health") == 2 && !reloaded) {
            reloaded = true;
            prober_.set_targets({target(Engine::vllm)});
        }
        return !changes_.empty();
    });
    EXPECT_TRUE(reloaded);
    EXPECT_EQ(health_requests_at_change_[0], 3);
}

TEST_F(ProberTest, AReplicaThatGoesAwayIsAskedNoMore) {
    engine_.answers("/health", {200, ""});
    engine_.answers("/v1/models", {200, std::string{models}});
    const ReplicaName name = target(Engine::vllm).name;
    ProbeTarget other = target(Engine::openai);
    other.name.pool = "other";
    other.slot = std::make_shared<routing::ReplicaSlot>();
    prober_.set_targets({target(Engine::vllm), other});
    int asked = -1;
    run_until([&] {
        if (asked < 0 && board_.snapshot()->size() == 2) {
            prober_.set_targets({other});
            EXPECT_FALSE(board_.snapshot()->contains(name));
            asked = engine_.count("/health");
        }
        return asked >= 0 && engine_.count("/v1/models") > asked + 20;
    });
    EXPECT_LE(engine_.count("/health"), asked + 1) << "one may have been under way";
    EXPECT_FALSE(board_.snapshot()->contains(name));
}

TEST_F(ProberTest, AnotherEngineUnderTheSameNameStartsAnew) {
    engine_.answers("/health", {500, ""});
    engine_.answers("/v1/models", {200, std::string{models}});
    prober_.set_targets({target(Engine::vllm)});
    run_until([&] {
        if (changes_.size() == 1) prober_.set_targets({target(Engine::openai)});
        return changes_.size() == 2;
    });
    EXPECT_EQ(changes_[0].to, Health::unhealthy);
    EXPECT_EQ(changes_[1].from, Health::unknown);
    EXPECT_EQ(changes_[1].to, Health::healthy);
}

TEST(GetRequest, NeverLetsACredentialEndItsHeader) {
    const std::string request = get_request("/health", "h:1", config::Secret{"a\r\nX-Evil: 1"});
    EXPECT_EQ(request.find("Evil"), std::string::npos);
    EXPECT_EQ(request.find("Authorization"), std::string::npos);
    EXPECT_TRUE(request.starts_with("GET /health HTTP/1.1\r\nHost: h:1\r\n")) << request;
    EXPECT_TRUE(request.ends_with("\r\n\r\n"));
    EXPECT_NE(get_request("/", "h", config::Secret{"k"}).find("\r\nAuthorization: Bearer k\r\n"), std::string::npos);
}

}  // namespace
}  // namespace weir::control
