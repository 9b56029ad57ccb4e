// Refusal: a request that is turned down, and the one reply that is made of it. Everything a client is told about a
// refusal is made here: status, error object, headers; the reason is the same in reply, metric and record.
// Pure. Source: contract.md section 3, "Refusals".
#pragma once

#include "http/message.h"
#include "model/reason.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::gateway {

struct Refusal {
    model::Reason reason{};
    std::string message;       // for people: what, and what to do; no secrets, no prompts
    std::string param{};         // the field at fault; "" = null
    int status = 0;            // 0 = the reason's own; upstream_rejected and upstream_saturated keep the engine's
    std::string code{};        // error.code; "" = the reason's name
    std::string type{};        // error.type; "" = the reason's
    std::optional<std::chrono::milliseconds> retry_after{};  // 429 and 503 always get one: default 1 s
    std::string allow{};       // 405 only: the methods that work

    [[nodiscard]] int status_to_send() const noexcept;
};

// A refusal on its way through coroutines, whose frames keep room for all they may hold: a pointer instead of 200
// bytes. nullptr = not refused.
using BoxedRefusal = std::unique_ptr<Refusal>;
[[nodiscard]] inline BoxedRefusal boxed(Refusal refusal) { return std::make_unique<Refusal>(std::move(refusal)); }

// Those that every stage makes alike.
[[nodiscard]] Refusal invalid_api_key();
[[nodiscard]] Refusal shutting_down();

// {"error":{"message":…,"type":…,"param":…,"code":…}}
[[nodiscard]] std::string error_body(const Refusal& refusal);
// The same as one server-sent event, for a stream that has begun.
[[nodiscard]] std::string error_event(const Refusal& refusal);

// What the head tells of how the request was handled; "" is not told. The last three are for callers with `debug`.
struct Handling {
    std::string_view server_timing{};
    std::string_view pool{};
    std::string_view replica{};
    std::string_view decision{};
};

// The head's fields. Owns the texts that the fields view, but for those of `handling`; so it must outlive their use and
// stays where it is.
class RefusalFields {
public:
    RefusalFields(const Refusal& refusal, std::string_view request_id, const Handling& handling = {});
    RefusalFields(const RefusalFields&) = delete;
    RefusalFields& operator=(const RefusalFields&) = delete;
    [[nodiscard]] const std::vector<http::Field>& all() const noexcept { return fields_; }

private:
    std::string retry_after_s_;
    std::string retry_after_ms_;
    std::string request_id_;
    std::string allow_;
    std::vector<http::Field> fields_;
};

}  // namespace weir::gateway
