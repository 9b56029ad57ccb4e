#include "bench/plan.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace weir::bench {
namespace {

constexpr std::string_view prefix = "bench:";
constexpr std::uint32_t most_chunks = 10'000'000;
constexpr std::uint32_t longest_interval_ms = 3'600'000;

// The number at the front of `text`, which becomes what follows it.
std::optional<std::uint32_t> take_number(std::string_view& text, std::uint32_t most) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number == 0 || number > most) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take_text(std::string_view& text, std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
}

std::optional<Plan> parse(std::string_view text) {
    static_cast<void>(take_text(text, prefix));
    if (text == "whole") return Plan{};
    if (text == "idle") return Plan{.kind = PlanKind::idle};
    Plan plan;
    if (take_text(text, "paced:"))
        plan.kind = PlanKind::paced;
    else if (take_text(text, "varied:"))
        plan.kind = PlanKind::varied;
    else if (take_text(text, "burst:"))
        plan.kind = PlanKind::burst;
    else
        return std::nullopt;
    const auto chunks = take_number(text, most_chunks);
    if (!chunks) return std::nullopt;
    plan.chunks = *chunks;
    if (plan.has_interval()) {
        if (!take_text(text, ":")) return std::nullopt;
        const auto interval = take_number(text, longest_interval_ms);
        if (!interval) return std::nullopt;
        plan.interval = std::chrono::milliseconds{*interval};
    }
    if (!text.empty()) return std::nullopt;
    return plan;
}

}  // namespace

std::string to_text(const Plan& plan) {
    switch (plan.kind) {
        case PlanKind::whole: return "bench:whole";
        case PlanKind::paced: return fmt::format("bench:paced:{}:{}", plan.chunks, plan.interval.count());
        case PlanKind::varied: return fmt::format("bench:varied:{}:{}", plan.chunks, plan.interval.count());
        case PlanKind::burst: return fmt::format("bench:burst:{}", plan.chunks);
        case PlanKind::idle: return "bench:idle";
    }
    return "";
}

base::Result<Plan> parse_plan(std::string_view text) {
    const auto plan = parse(text);
    if (!plan)
        return base::fail(
            base::ErrorCode::invalid_argument,
            "not a plan: use whole, paced:CHUNKS:MILLISECONDS, varied:CHUNKS:MILLISECONDS, burst:CHUNKS or idle");
    return *plan;
}

base::Result<Plan> find_plan(std::string_view body) {
    const auto begin = body.find("\"bench:");
    if (begin == std::string_view::npos) return Plan{};
    const auto text = body.substr(begin + 1);
    return parse_plan(text.substr(0, text.find('"')));
}

}  // namespace weir::bench
