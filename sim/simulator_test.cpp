// The whole simulator through real sockets: its own server and engine, a client that shares no code with it.
#include "sim/simulator.h"

#include "io/listener.h"
#include "sim/client_for_test.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace weir::sim {
namespace {

using test::Connection;
using testing::HasSubstr;
using testing::Not;

// A simulator on a thread of its own for as long as it lives.
class Running {
public:
    explicit Running(const std::string& preset, const std::string& api_key = {}) {
        auto options = *options_of_preset(preset);
        options.listen.port = 0;
        options.api_key = api_key;
        auto created = Simulator::create(options);
        if (!created) throw std::runtime_error{created.error().message()};
        simulator_ = *std::move(created);
        thread_ = std::thread{[this] { simulator_->run(); }};
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { stop(); }

    void stop() {
        if (!thread_.joinable()) return;
        simulator_->stop();
        thread_.join();
    }
    [[nodiscard]] int port() const {
        const auto address = simulator_->address();
        int port = 0;
        const auto colon = address.rfind(':');
        std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
        return port;
    }

private:
    std::unique_ptr<Simulator> simulator_;
    std::thread thread_;
};

std::string chat_body(const std::string& members = {}) {
    return R"({"model":"sim/tiny","messages":[{"role":"user","content":"tell me of the river"}])" + members + "}";
}

// A parsed JSON text with short ways to its members.
struct Json {
    explicit Json(const std::string& text) { EXPECT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text; }
    [[nodiscard]] std::string text(std::string_view pointer) {
        std::string_view value;
        if (root.at_pointer(pointer).get(value) != simdjson::SUCCESS) return "(none)";
        return std::string{value};
    }
    [[nodiscard]] std::int64_t number(std::string_view pointer) {
        std::int64_t value = -1;
        if (root.at_pointer(pointer).get(value) != simdjson::SUCCESS) return -1;
        return value;
    }
    [[nodiscard]] bool has(std::string_view pointer) { return root.at_pointer(pointer).error() == simdjson::SUCCESS; }

    simdjson::dom::parser parser;
    simdjson::dom::element root;
};

// The value of a series in Prometheus text; -1 when it is not there.
double sample(const std::string& text, const std::string& series) {
    const auto at = text.find("\n" + series + " ");
    if (at == std::string::npos) return -1;
    double value = -1;
    const auto* const from = text.data() + at + 1 + series.size() + 1;
    std::from_chars(from, text.data() + text.size(), value);
    return value;
}

double sample(const Running& sim, const std::string& series) {
    return sample(test::get(sim.port(), "/metrics").body, series);
}

// Asks again, for a bounded time, until a series has the value.
bool reaches(const Running& sim, const std::string& series, double value) {
    for (int i = 0; i < 500; ++i) {
        if (sample(sim, series) == value) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
}

const std::string aborts = R"(vllm:request_success_total{engine="0",finished_reason="abort",model_name="sim/tiny"})";
const std::string running_now = R"(vllm:num_requests_running{engine="0",model_name="sim/tiny"})";

TEST(Simulator, answers_a_chat_whole) {
    const Running sim{"tiny-fast"};
    const auto response = test::post(sim.port(), "/v1/chat/completions",
                                     chat_body(R"(,"max_tokens":12,"ignore_eos":true)"), "X-Request-Id: req-7\r\n");
    ASSERT_EQ(response.status, 200) << response.body;
    Json json{response.body};
    EXPECT_EQ(json.text("/id"), "chatcmpl-req-7");
    EXPECT_EQ(json.text("/model"), "sim/tiny");
    EXPECT_EQ(json.text("/choices/0/finish_reason"), "length");
    EXPECT_EQ(json.number("/usage/completion_tokens"), 12);
    EXPECT_EQ(json.number("/usage/prompt_tokens"), 5 + 4 + 3);
    EXPECT_TRUE(json.root.at_pointer("/usage/prompt_tokens_details").is_null());
    EXPECT_THAT(json.text("/system_fingerprint"), HasSubstr("weir-sim"));
    EXPECT_GT(json.text("/choices/0/message/content").size(), 12U);
}

// What a stream has said, put together again.
struct Told {
    std::string text;
    std::vector<std::string> finish_reasons;
    int content_events = 0;
    int fingerprints = 0;
    std::int64_t last_completion_tokens = -1;
};

Told listen_to(const std::vector<std::string>& events, int choice = 0) {
    Told told;
    for (const auto& event : events) {
        if (event == "[DONE]") continue;
        Json json{event};
        if (json.has("/system_fingerprint")) ++told.fingerprints;
        if (json.has("/usage/completion_tokens")) told.last_completion_tokens = json.number("/usage/completion_tokens");
        if (!json.has("/choices/0") || json.number("/choices/0/index") != choice) continue;
        if (json.has("/choices/0/delta/role")) continue;
        ++told.content_events;
        told.text += json.text("/choices/0/delta/content");
        if (const auto reason = json.text("/choices/0/finish_reason"); reason != "(none)")
            told.finish_reasons.push_back(reason);
    }
    return told;
}

TEST(Simulator, streams_one_event_for_each_step_and_the_same_text_as_a_whole_answer) {
    const Running sim{"tiny-fast"};
    const auto streamed = test::post(
        sim.port(), "/v1/chat/completions",
        chat_body(R"(,"max_tokens":20,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true})"));
    ASSERT_EQ(streamed.status, 200);
    EXPECT_TRUE(streamed.complete);
    EXPECT_THAT(streamed.head, HasSubstr("text/event-stream"));
    const auto events = streamed.events();
    ASSERT_EQ(events.size(), 1U + 20 + 1 + 1) << "role, one each, usage, [DONE]";
    EXPECT_THAT(events.front(), HasSubstr(R"("delta":{"role":"assistant","content":""})"));
    EXPECT_THAT(events[events.size() - 2], HasSubstr(R"("choices":[],"usage")"));
    EXPECT_EQ(events.back(), "[DONE]");
    const auto told = listen_to(events);
    EXPECT_THAT(told.finish_reasons, testing::ElementsAre("length"));
    EXPECT_EQ(told.fingerprints, 1);
    EXPECT_EQ(told.last_completion_tokens, 20);

    const auto whole =
        test::post(sim.port(), "/v1/chat/completions", chat_body(R"(,"max_tokens":20,"ignore_eos":true)"));
    EXPECT_EQ(Json{whole.body}.text("/choices/0/message/content"), told.text);
}

TEST(Simulator, with_speculation_a_step_brings_several_tokens_in_one_event) {
    const Running sim{"tiny-fast-k2"};
    const auto streamed = test::post(
        sim.port(), "/v1/chat/completions",
        chat_body(
            R"(,"max_tokens":60,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true})"));
    const auto told = listen_to(streamed.events());
    const auto text = test::get(sim.port(), "/metrics").body;
    const double drafts = sample(text, R"(vllm:spec_decode_num_drafts_total{engine="0",model_name="sim/tiny"})");
    EXPECT_EQ(told.content_events, 1 + drafts) << "the prefill's token, then one event for each verify step";
    EXPECT_LT(told.content_events, 60);
    EXPECT_EQ(told.last_completion_tokens, 60);
    const double accepted =
        sample(text, R"(vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="sim/tiny"})");
    EXPECT_GT(accepted, 0);
    EXPECT_GE(1 + drafts + accepted, 60);
}

TEST(Simulator, answers_several_choices) {
    const Running sim{"tiny-fast-k2"};
    const auto streamed = test::post(sim.port(), "/v1/chat/completions",
                                     chat_body(R"(,"n":2,"max_tokens":15,"ignore_eos":true,"stream":true)"));
    const auto events = streamed.events();
    EXPECT_EQ(events.back(), "[DONE]");
    const auto first = listen_to(events, 0);
    const auto second = listen_to(events, 1);
    EXPECT_NE(first.text, second.text);
    EXPECT_EQ(first.finish_reasons.size(), 1U);
    EXPECT_EQ(second.finish_reasons.size(), 1U);
    EXPECT_EQ(first.fingerprints, 1) << "only the last of all";
    const auto whole =
        test::post(sim.port(), "/v1/chat/completions", chat_body(R"(,"n":2,"max_tokens":15,"ignore_eos":true)"));
    EXPECT_EQ(Json{whole.body}.text("/choices/1/message/content"), second.text);
    EXPECT_EQ(Json{whole.body}.number("/usage/completion_tokens"), 30);
}

TEST(Simulator, a_stop_string_ends_the_text_in_front_of_it) {
    const Running sim{"tiny-fast-k2"};
    const auto all = test::post(sim.port(), "/v1/chat/completions", chat_body(R"(,"max_tokens":40,"ignore_eos":true)"));
    const auto text = Json{all.body}.text("/choices/0/message/content");
    const auto blank = text.find(' ', 60);
    const auto stop =
        text.substr(blank, text.find(' ', blank + 1) - blank);  // a whole word, never a part of a character
    ASSERT_EQ(stop.find_first_of("\"\\\n"), std::string::npos)
        << "the seed was chosen so that the test needs no escaping: " << stop;
    const auto with_stop = fmt::format(R"(,"max_tokens":40,"ignore_eos":true,"stop":["{}"])", stop);
    const auto whole = test::post(sim.port(), "/v1/chat/completions", chat_body(with_stop));
    Json json{whole.body};
    EXPECT_EQ(json.text("/choices/0/message/content"), text.substr(0, text.find(stop)));
    EXPECT_EQ(json.text("/choices/0/finish_reason"), "stop");
    EXPECT_EQ(json.text("/choices/0/stop_reason"), stop);
    const auto streamed = test::post(sim.port(), "/v1/chat/completions", chat_body(with_stop + R"(,"stream":true)"));
    EXPECT_EQ(listen_to(streamed.events()).text, text.substr(0, text.find(stop)));
}

struct RefusedCall {
    std::string name;
    std::string path;
    std::string body;
    int status;
    std::string contains;
};

TEST(Simulator, refuses_in_vllms_shapes_and_keeps_the_connection) {
    const Running sim{"tiny-fast-k2"};
    const Connection connection{sim.port()};
    const std::string chat = "/v1/chat/completions";
    const std::vector<RefusedCall> calls{
        {"bad JSON", chat, "{", 400, R"("type":"Bad Request")"},
        {"unknown model", chat, R"({"model":"x","messages":[{"role":"user","content":"a"}]})", 404,
         "The model `x` does not exist."},
        {"min_p", chat, chat_body(R"(,"min_p":0.1)"), 400, "not yet supported with speculative decoding"},
        {"context", chat, chat_body(R"(,"max_tokens":5000)"), 400, "maximum context length is 4096 tokens"},
        {"tokenize of another model", "/tokenize", R"({"model":"x","prompt":"a"})", 404, "does not exist"},
        {"no such path", "/v1/nothing", "{}", 404, R"("message":"Not Found")"},
        {"wrong method", "/version", "{}", 405, R"("message":"Method Not Allowed")"},
    };
    for (const auto& call : calls) {
        connection.send(test::post_request(call.path, call.body));
        const auto response = connection.receive();
        EXPECT_EQ(response.status, call.status) << call.name;
        EXPECT_THAT(response.body, HasSubstr(call.contains)) << call.name;
    }
    connection.send(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(connection.receive().status, 400);
}

TEST(Simulator, tells_about_itself) {
    const Running sim{"tiny-fast"};
    EXPECT_EQ(test::get(sim.port(), "/health").status, 200);
    EXPECT_EQ(test::get(sim.port(), "/health").body, "");
    EXPECT_EQ(test::get(sim.port(), "/version").body, R"({"version":"0.22.0"})");
    EXPECT_EQ(test::get(sim.port(), "/load").body, R"({"server_load":0})");
    EXPECT_EQ(Json{test::get(sim.port(), "/v1/models").body}.text("/data/0/owned_by"), "weir-sim");
    const auto metrics = test::get(sim.port(), "/metrics");
    EXPECT_THAT(metrics.head, HasSubstr("text/plain; version=0.0.4"));
    EXPECT_EQ(sample(metrics.body, running_now), 0);
}

TEST(Simulator, tokenize_agrees_with_the_usage_of_a_chat) {
    const Running sim{"tiny-fast"};
    Json counted{test::post(sim.port(), "/tokenize", chat_body()).body};
    Json chat{test::post(sim.port(), "/v1/chat/completions", chat_body(R"(,"max_tokens":1)")).body};
    EXPECT_EQ(counted.number("/count"), chat.number("/usage/prompt_tokens"));
    EXPECT_EQ(counted.number("/max_model_len"), 4096);
}

TEST(Simulator, asks_for_its_key_on_v1_only) {
    const Running sim{"tiny-fast", "sesame"};
    const auto body = chat_body(R"(,"max_tokens":1)");
    const auto without = test::post(sim.port(), "/v1/chat/completions", body);
    EXPECT_EQ(without.status, 401);
    EXPECT_EQ(without.body, R"({"error":"Unauthorized"})");
    EXPECT_EQ(test::post(sim.port(), "/v1/chat/completions", body, "Authorization: Bearer wrong\r\n").status, 401);
    EXPECT_EQ(test::post(sim.port(), "/v1/chat/completions", body, "Authorization: Bearer sesame\r\n").status, 200);
    EXPECT_EQ(test::get(sim.port(), "/v1/models").status, 401);
    EXPECT_EQ(test::get(sim.port(), "/metrics").status, 200);
}

TEST(Simulator, a_client_that_leaves_aborts_its_request_streamed_or_not) {
    const Running sim{"tiny-fast"};
    int expected = 0;
    for (const auto* const stream : {"true", "false"}) {
        {
            const Connection connection{sim.port()};
            connection.send(test::post_request(
                "/v1/chat/completions",
                chat_body(fmt::format(R"(,"max_tokens":4000,"ignore_eos":true,"stream":{})", stream))));
            EXPECT_TRUE(reaches(sim, running_now, 1)) << stream;
        }
        EXPECT_TRUE(reaches(sim, aborts, ++expected)) << stream;
        EXPECT_TRUE(reaches(sim, running_now, 0)) << stream;
        EXPECT_EQ(sample(sim, R"(vllm:e2e_request_latency_seconds_count{engine="0",model_name="sim/tiny"})"), expected);
    }
}

TEST(Simulator, takes_the_time_that_its_steps_take_and_counts_what_it_is_late) {
    const Running sim{"tiny-fast"};
    const auto begin = base::monotonic_now();
    const auto response =
        test::post(sim.port(), "/v1/chat/completions", chat_body(R"(,"max_tokens":1000,"ignore_eos":true)"));
    const double took = base::to_seconds(base::monotonic_now() - begin);
    EXPECT_EQ(response.status, 200);
    constexpr double simulated = 1000 * 0.0003;
    constexpr double margin = 0.6;  // of a busy machine; a step that began late by its own wake-up would cost more
    const double late = sample(sim, "weir_sim_late_seconds_total");
    EXPECT_GE(late, 0);
    EXPECT_GE(took, simulated);
    EXPECT_LE(took, simulated + late + margin);
}

TEST(Simulator, stopping_cuts_open_streams_short_of_their_end) {
    Running sim{"crowd"};
    const Connection connection{sim.port()};
    connection.send(test::post_request(
        "/v1/chat/completions",
        R"({"model":"sim/crowd","messages":[{"role":"user","content":"a"}],"max_tokens":4000,"ignore_eos":true,"stream":true})"));
    auto all = connection.receive_until(R"("role":"assistant")");
    EXPECT_THAT(all, HasSubstr("200 OK"));
    sim.stop();
    all += connection.receive_until("\r\n0\r\n\r\n");
    EXPECT_THAT(all, Not(HasSubstr("[DONE]")));
    EXPECT_THAT(all, Not(HasSubstr("\r\n0\r\n\r\n")));
}

TEST(Simulator, holds_two_thousand_streams_at_once) {
    constexpr int streams = 2000;
    ASSERT_GE(io::raise_descriptor_limit(), 2U * streams + 100U)
        << "this test needs more descriptors than the system allows";
    const Running sim{"crowd"};
    const auto request = test::post_request(
        "/v1/chat/completions",
        R"({"model":"sim/crowd","messages":[{"role":"user","content":"a"}],"max_tokens":12,"ignore_eos":true,"stream":true})");
    std::vector<std::unique_ptr<Connection>> connections;
    for (int i = 0; i < streams; ++i) {
        connections.push_back(std::make_unique<Connection>(sim.port()));
        connections.back()->send(request);
    }
    int whole = 0;
    for (const auto& connection : connections) {
        const auto response = connection->receive();
        if (response.status == 200 && response.complete && response.events().size() == 1U + 12 + 1) ++whole;
    }
    EXPECT_EQ(whole, streams);
}

}  // namespace
}  // namespace weir::sim
