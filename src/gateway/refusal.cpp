#include "gateway/refusal.h"

#include "base/json_writer.h"

namespace weir::gateway {

using namespace std::chrono_literals;

int Refusal::status_to_send() const noexcept { return status != 0 ? status : model::info_of(reason).status; }

Refusal invalid_api_key() {
    return {.reason = model::Reason::invalid_api_key,
            .message = "The API key is missing or not valid. Send it as 'Authorization: Bearer KEY'."};
}

Refusal shutting_down() {
    return {.reason = model::Reason::draining, .message = "This gateway is shutting down; send the request again."};
}

std::string error_body(const Refusal& refusal) {
    const auto& info = model::info_of(refusal.reason);
    base::JsonWriter json;
    json.begin_object().key("error").begin_object();
    json.member("message", std::string_view{refusal.message});
    json.member("type", refusal.type.empty() ? info.error_type : std::string_view{refusal.type});
    json.key("param");
    if (refusal.param.empty())
        json.null();
    else
        json.string(refusal.param);
    json.member("code", refusal.code.empty() ? info.name : std::string_view{refusal.code});
    json.end_object().end_object();
    return std::move(json).take();
}

std::string error_event(const Refusal& refusal) { return "data: " + error_body(refusal) + "\n\n"; }

RefusalFields::RefusalFields(const Refusal& refusal, std::string_view request_id, const Handling& handling)
    : request_id_{request_id}, allow_{refusal.allow} {
    const int status = refusal.status_to_send();
    fields_.push_back({"content-type", "application/json"});
    fields_.push_back({"x-request-id", request_id_});
    fields_.push_back({"x-weir-reason", model::name_of(refusal.reason)});
    if (status == 429 || status == 503) {
        const auto wait = std::max(refusal.retry_after.value_or(1s), std::chrono::milliseconds{1});
        retry_after_s_ = std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count());
        retry_after_ms_ = std::to_string(wait.count());
        fields_.push_back({"retry-after", retry_after_s_});
        fields_.push_back({"retry-after-ms", retry_after_ms_});
    }
    if (model::retry_cannot_help(refusal.reason, status)) fields_.push_back({"x-should-retry", "false"});
    if (status == 401) fields_.push_back({"www-authenticate", "Bearer"});
    if (!allow_.empty()) fields_.push_back({"allow", allow_});
    for (const auto& [name, value] :
         {http::Field{"server-timing", handling.server_timing}, http::Field{"x-weir-pool", handling.pool},
          http::Field{"x-weir-replica", handling.replica}, http::Field{"x-weir-decision", handling.decision}})
        if (!value.empty()) fields_.push_back({name, value});
}

}  // namespace weir::gateway
