#include "metric/metric.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace weir::metric {

namespace {

constexpr std::string_view other = "other";

// Label values are joined by a byte that no UTF-8 text has.
template <class Values>
std::string joined(const Values& values) {
    std::string key;
    for (const auto& value : values) {
        key += value;
        key += '\xff';
    }
    return key;
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
    for (const char c : text) {
        if (c == '\\')
            out += "\\\\";
        else if (c == '\n')
            out += "\\n";
        else if (c == '"' && quotes)
            out += "\\\"";
        else
            out += c;
    }
}

// "{a="1",b="2"}", or "" when there is no label. `extra` is written as it is.
std::string labels_text(const Family& family, const LabelValues& values, std::string_view extra = "") {
    std::string text;
    for (std::size_t i = 0; i < family.labels.size() && i < values.size(); ++i) {
        if (values[i].empty()) continue;
        text.append(text.empty() ? "{" : ",").append(family.labels[i]).append("=\"");
        append_escaped(text, values[i], true);
        text += '"';
    }
    if (!extra.empty()) text.append(text.empty() ? "{" : ",").append(extra);
    if (!text.empty()) text += '}';
    return text;
}

std::string number_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    return fmt::format("{}", value);
}

LabelValues labels_of(std::span<const std::string_view> values) {
    LabelValues labels;
    labels.reserve(values.size());
    for (const auto value : values)
        labels.emplace_back(base::is_valid_utf8(value) ? value : other);
    return labels;
}

}  // namespace

std::string_view name_of(Type type) noexcept {
    switch (type) {
        case Type::counter: return "counter";
        case Type::gauge: return "gauge";
        case Type::histogram: return "histogram";
    }
    return "untyped";
}

void Series::observe(std::span<const double> bounds, double value) noexcept {
    if (!std::isfinite(value)) return;
    add(value);
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
    auto& bucket = buckets_[std::min(at, buckets_.size() - 1)];
    bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

Series& FamilyShard::with(std::span<const std::string_view> values) {
    auto key = joined(values);
    if (const auto found = entries_.find(key); found != entries_.end()) return found->second->series;
    assert(values.size() == family_->labels.size());
    auto labels = labels_of(values);
    if (entries_.size() >= max_series_) labels.assign(values.size(), std::string{other});
    key = joined(labels);
    if (const auto found = entries_.find(key); found != entries_.end()) return found->second->series;
    const std::size_t buckets = family_->type == Type::histogram ? family_->buckets.size() + 1 : 0;
    auto entry = std::make_unique<Entry>(std::move(labels), buckets);
    const std::scoped_lock lock{growing_};
    return entries_.emplace(std::move(key), std::move(entry)).first->second->series;
}

Exposition::Block& Exposition::block_of(const Family& family) {
    const auto found = std::ranges::find(blocks_, &family, &Block::family);
    if (found != blocks_.end()) return *found;
    blocks_.push_back({.family = &family, .sums = {}, .index = {}});
    return blocks_.back();
}

Exposition::Sum& Exposition::sum_of(Block& block, const LabelValues& labels) {
    const auto [at, fresh] = block.index.try_emplace(joined(labels), block.sums.size());
    if (fresh) {
        const std::size_t buckets = block.family->type == Type::histogram ? block.family->buckets.size() + 1 : 0;
        block.sums.push_back({.labels = labels, .value = 0, .buckets = std::vector<std::uint64_t>(buckets)});
    }
    return block.sums[at->second];
}

void Exposition::add(const FamilyShard& shard) {
    Block& block = block_of(shard.family());
    const std::scoped_lock lock{shard.growing_};
    for (const auto& [key, entry] : shard.entries_) {
        Sum& sum = sum_of(block, entry->labels);
        sum.value += entry->series.value();
        for (std::size_t i = 0; i < sum.buckets.size(); ++i)
            sum.buckets[i] += entry->series.bucket(i);
    }
}

void Exposition::set(const Family& family, std::span<const std::string_view> values, double value) {
    sum_of(block_of(family), labels_of(values)).value = value;
}

void Exposition::add_value(const Family& family, std::span<const std::string_view> values, double value) {
    sum_of(block_of(family), labels_of(values)).value += value;
}

void Exposition::append_samples(std::string& out, const Family& family, const Sum& sum) {
    if (family.type != Type::histogram) {
        out += fmt::format("{}{} {}\n", family.name, labels_text(family, sum.labels), number_text(sum.value));
        return;
    }
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < sum.buckets.size(); ++i) {
        count += sum.buckets[i];
        const auto bound =
            fmt::format("le=\"{}\"", i < family.buckets.size() ? number_text(family.buckets[i]) : "+Inf");
        out += fmt::format("{}_bucket{} {}\n", family.name, labels_text(family, sum.labels, bound), count);
    }
    const auto labels = labels_text(family, sum.labels);
    out += fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", family.name, labels, number_text(sum.value), count);
}

std::string Exposition::text() const {
    std::string out;
    for (const auto& block : blocks_) {
        if (block.sums.empty()) continue;
        const auto& family = *block.family;
        out += fmt::format("# HELP {} ", family.name);
        append_escaped(out, family.help, false);
        out += fmt::format("\n# TYPE {} {}\n", family.name, name_of(family.type));
        std::vector<const Sum*> sorted;
        sorted.reserve(block.sums.size());
        for (const auto& sum : block.sums)
            sorted.push_back(&sum);
        std::ranges::sort(sorted, {}, [](const Sum* sum) -> const LabelValues& { return sum->labels; });
        for (const auto* sum : sorted)
            append_samples(out, family, *sum);
    }
    return out;
}

}  // namespace weir::metric
