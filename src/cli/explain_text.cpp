#include "cli/explain_text.h"

#include "base/text.h"
#include "cli/table.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace weir::cli {

namespace {

// Reading is by simdjson's throwing accessors: one catch in explain_text() is for all that is not as documented.
using Json = simdjson::dom::element;

std::string text(Json value) { return printable(std::string_view{value}); }
std::string text(Json object, std::string_view name) {
    const Json value = object[name];
    return value.is_null() ? std::string{} : text(value);
}
double number(Json object, std::string_view name) { return double{object[name]}; }

std::string percent(double share) {
    if (share <= 0) return "-";
    const double rounded = std::round(share * 1000) / 10;
    return fmt::format("{}%", rounded);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ") {
    std::string all;
    for (const auto& part : parts)
        all.append(all.empty() ? "" : separator).append(part);
    return all;
}

// "main", or "a (66.7%) or b (33.3%)".
std::string alternatives(const std::vector<std::pair<std::string, double>>& shares) {
    std::vector<std::string> parts;
    for (const auto& [name, share] : shares)
        if (share > 0) parts.push_back(share >= 1 ? name : fmt::format("{} ({})", name, percent(share)));
    return joined(parts, " or ");
}

std::string headline(Json root) {
    const Json refusal = root["refusal"];
    if (!refusal.is_null()) {
        std::string line = fmt::format("Would be refused with {} {}: {}\n", std::int64_t{refusal["status"]},
                                       text(refusal, "reason"), text(refusal, "message"));
        if (const auto advice = text(refusal, "advice"); !advice.empty()) line += advice + "\n";
        return line;
    }
    std::vector<std::pair<std::string, double>> pools;
    for (const Json pool : simdjson::dom::array{root["pools"]})
        pools.emplace_back(text(pool, "pool"), number(pool, "share"));
    const Json choice = root["choice"];
    const Json arms = choice["arms"];
    const auto arm = alternatives({{"baseline", number(arms, "baseline")}, {"candidate", number(arms, "candidate")}});
    return fmt::format("Would be served by pool {}, arm {}, because {}.\n", alternatives(pools), arm,
                       text(choice, "why"));
}

std::string caller_line(Json caller) {
    if (caller.is_null()) return "nobody in particular";
    std::vector<std::string> parts;
    for (const auto* name : {"tenant", "team", "application", "workload", "key"})
        if (const auto value = text(caller, name); !value.empty()) parts.push_back(fmt::format("{} {}", name, value));
    std::vector<std::string> permissions;
    for (const Json permission : simdjson::dom::array{caller["permissions"]})
        permissions.push_back(text(permission));
    if (!permissions.empty()) parts.push_back("may " + joined(permissions, " and "));
    return joined(parts);
}

std::string request_line(Json request) {
    std::vector<std::string> parts{text(request, "endpoint")};
    Json model;
    if (request["model"].get(model) == simdjson::SUCCESS) {
        parts.push_back("model " + base::quoted(std::string_view{model}));
        if (bool{request["stream"]}) parts.emplace_back("streamed");
        for (const Json feature : simdjson::dom::array{request["features"]})
            parts.push_back(text(feature));
        std::uint64_t max_tokens = 0;
        if (request["max_tokens"].get(max_tokens) == simdjson::SUCCESS)
            parts.push_back(fmt::format("at most {} tokens", max_tokens));
    }
    parts.push_back(fmt::format("{} bytes", std::uint64_t{request["prompt_bytes"]}));
    return joined(parts);
}

std::string pool_table(Json root) {
    Table table{{{"POOL"}, {"ARM"}, {"ORDER", Align::right}, {"SHARE", Align::right}, {"VERDICT"}}};
    for (const Json pool : simdjson::dom::array{root["pools"]})
        table.add({text(pool, "pool"), text(pool, "arm"), std::to_string(std::int64_t{pool["order"]}),
                   percent(number(pool, "share")), bool{pool["eligible"]} ? "eligible" : text(pool, "reason")});
    return table.text();
}

std::string replica_table(Json root) {
    Table table{{{"REPLICA"},
                 {"POOL"},
                 {"STATE"},
                 {"IN FLIGHT", Align::right},
                 {"LIMIT", Align::right},
                 {"SHARE", Align::right}}};
    for (const Json pool : simdjson::dom::array{root["pools"]})
        for (const Json replica : simdjson::dom::array{pool["replicas"]}) {
            const Json limit = replica["limit"];
            table.add({text(replica, "url"), text(pool, "pool"), text(replica, "state"),
                       std::to_string(std::int64_t{replica["in_flight"]}),
                       limit.is_null() ? "-" : std::to_string(std::int64_t{limit}), percent(number(replica, "share"))});
        }
    return table.text();
}

std::string advice(Json root) {
    std::string lines;
    for (const Json pool : simdjson::dom::array{root["pools"]})
        if (!bool{pool["eligible"]})
            lines += fmt::format("{}: {}\n  {}\n", text(pool, "pool"), text(pool, "reason"), text(pool, "advice"));
    for (const Json note : simdjson::dom::array{root["notes"]})
        lines += fmt::format("note: {}\n", text(note));
    return lines;
}

std::string all_of(Json root) {
    std::string shown = headline(root) + "\n";
    shown += fmt::format("caller   {}\nrequest  {}\n", caller_line(root["caller"]), request_line(root["request"]));
    if (const auto alias = text(root, "alias"); !alias.empty()) shown += fmt::format("alias    {}\n", alias);
    const bool live = std::string_view{root["signals"]} == "live";
    shown += fmt::format("signals  {}\n", live ? "live" : "none (offline)");
    for (const auto& part : {pool_table(root), replica_table(root), advice(root)})
        if (!part.empty()) shown += "\n" + part;
    return shown;
}

}  // namespace

base::Result<ExplainText> explain_text(std::string_view json) {
    try {
        simdjson::dom::parser parser;
        const Json root = parser.parse(json.data(), json.size());
        return ExplainText{.text = all_of(root), .served = std::string_view{root["outcome"]} == "served"};
    } catch (const simdjson::simdjson_error& error) {
        return base::fail(base::ErrorCode::protocol,
                          fmt::format("this is not an explanation as this version knows it: {}", error.what()));
    }
}

}  // namespace weir::cli
