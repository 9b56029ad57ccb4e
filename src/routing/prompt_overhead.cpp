#include "routing/prompt_overhead.h"

#include <algorithm>

namespace weir::routing {

namespace {

void lower_to(std::atomic<std::uint64_t>& cell, std::uint64_t value) noexcept {
    auto seen = cell.load(std::memory_order_relaxed);
    while (value < seen && !cell.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}
}

void raise_to(std::atomic<std::uint64_t>& cell, std::uint64_t value) noexcept {
    auto seen = cell.load(std::memory_order_relaxed);
    while (value > seen && !cell.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}
}

}  // namespace

void PromptOverhead::note(PromptKind kind, PromptReport report) noexcept {
    // No prompt is empty for an engine: a zero is a count that it did not make.
    if (report.tokens == 0) return;
    Kind& cells = kinds_[static_cast<std::size_t>(kind)];
    const auto number = cells.reports.fetch_add(1, std::memory_order_relaxed);
    Generation& now = cells.generations[number / window % 2];
    // Two threads at a window's edge may lose each other's report; the next ones make up for it.
    if (number % window == 0) {
        now.least_tokens.store(none, std::memory_order_relaxed);
        now.most_excess.store(0, std::memory_order_relaxed);
    }
    lower_to(now.least_tokens, report.tokens);
    if (report.tokens > report.bytes) raise_to(now.most_excess, report.tokens - report.bytes);
}

std::optional<std::uint64_t> PromptOverhead::at_most(PromptKind kind) const noexcept {
    std::uint64_t least = none;
    std::uint64_t excess = 0;
    for (const Generation& generation : kinds_[static_cast<std::size_t>(kind)].generations) {
        least = std::min(least, generation.least_tokens.load(std::memory_order_relaxed));
        excess = std::max(excess, generation.most_excess.load(std::memory_order_relaxed));
    }
    if (least == none) return std::nullopt;
    return std::max(least, excess);
}

}  // namespace weir::routing
