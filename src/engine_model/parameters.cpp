#include "engine_model/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

namespace weir::engine_model {
namespace {

using base::ErrorCode;
using base::fail;
using base::Status;

Status check_range(std::string_view name, double value, double low, double high) {
    if (std::isfinite(value) && value >= low && value <= high) return {};
    return fail(ErrorCode::invalid_argument, fmt::format("{}: must be between {} and {}", name, low, high));
}

Status check_speculation(const Speculation& speculation) {
    constexpr std::size_t longest_proposal = 64;
    const auto& rates = speculation.position_acceptance;
    if (rates.size() > longest_proposal)
        return fail(ErrorCode::invalid_argument,
                    fmt::format("position_acceptance: at most {} positions", longest_proposal));
    for (const double rate : rates)
        if (auto status = check_range("position_acceptance", rate, 0, 1); !status) return status;
    if (!std::ranges::is_sorted(rates, std::greater<>{}))
        return fail(ErrorCode::invalid_argument,
                    "position_acceptance: a later position cannot be accepted more often than an earlier one");
    return check_range("spread", speculation.spread, 0, 1);
}

Status check_cost(const StepCost& cost) {
    constexpr double hour_ns = 3.6e12;
    const std::pair<std::string_view, double> members[] = {
        {"launch", static_cast<double>(cost.launch.count())},
        {"weights", static_cast<double>(cost.weights.count())},
        {"kv_ns_per_token", cost.kv_ns_per_token},
        {"compute_ns_per_token", cost.compute_ns_per_token},
        {"verify_overhead", static_cast<double>(cost.verify_overhead.count())},
        {"draft_launch", static_cast<double>(cost.draft_launch.count())},
        {"draft_ns_per_token", cost.draft_ns_per_token},
    };
    for (const auto& [name, value] : members)
        if (auto status = check_range(name, value, 0, hour_ns); !status) return status;
    if (cost.launch.count() + cost.weights.count() <= 0)
        return fail(ErrorCode::invalid_argument, "launch, weights: a step cannot take no time at all");
    return {};
}

}  // namespace

double Speculation::mean_accepted_length() const noexcept {
    return std::accumulate(position_acceptance.begin(), position_acceptance.end(), 1.0);
}

Status check(const Parameters& parameters) {
    const auto& p = parameters;
    if (auto status = check_range("max_running", p.max_running, 1, 100'000); !status) return status;
    if (auto status = check_range("step_token_budget", p.step_token_budget, 1 + p.speculation.proposal_length(), 1e6);
        !status)
        return status;
    if (auto status = check_range("context_tokens", p.context_tokens, 2, 1e8); !status) return status;
    if (auto status = check_range("block_tokens", p.block_tokens, 1, 4096); !status) return status;
    const double one_context = std::ceil(static_cast<double>(p.context_tokens) / p.block_tokens);
    if (auto status = check_range("kv_blocks", static_cast<double>(p.kv_blocks), one_context, 1e12); !status)
        return status;
    if (auto status = check_speculation(p.speculation); !status) return status;
    return check_cost(p.cost);
}

base::Nanoseconds step_time(const StepCost& cost, const Speculation& speculation, const StepShape& shape) noexcept {
    const double memory =
        static_cast<double>(cost.weights.count()) + cost.kv_ns_per_token * static_cast<double>(shape.context_tokens);
    const double arithmetic = cost.compute_ns_per_token * shape.tokens;
    double total = static_cast<double>(cost.launch.count()) + std::max(memory, arithmetic);
    if (shape.drafted > 0) {
        const int passes = speculation.parallel_draft ? 1 : speculation.proposal_length();
        total += static_cast<double>(cost.verify_overhead.count()) +
                 passes * static_cast<double>(cost.draft_launch.count()) + cost.draft_ns_per_token * shape.drafted;
    }
    return base::Nanoseconds{std::llround(total)};
}

}  // namespace weir::engine_model
