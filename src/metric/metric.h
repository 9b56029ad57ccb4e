// Metric: counters, gauges and histograms with a fixed size, written by one thread each and summed at a scrape.
// A Shard belongs to one worker: only that worker adds to it (relaxed atomics, no lock); a scrape reads it at any time.
// Invariants: a family has at most `max_series` label sets in a shard, further ones are counted under `other`; a label
// with an empty value is the same as no label, so that is how a label is left out.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::metric {

enum class Type : std::uint8_t { counter, gauge, histogram };
[[nodiscard]] std::string_view name_of(Type type) noexcept;

// One row of the table of metrics: name, meaning, labels. Static storage.
struct Family {
    std::string_view name;
    Type type{};
    std::string_view help;
    std::span<const std::string_view> labels{};
    std::span<const double> buckets{};  // upper bounds, ascending; histograms only
};

// One label set's numbers. Written by one thread, read by any.
class Series {
public:
    explicit Series(std::size_t bucket_count) : buckets_(bucket_count) {}
    // Amounts are finite; what is not a number is ignored, for it would stay in the sum for ever.
    void add(double amount) noexcept {
        if (!std::isfinite(amount)) return;
        sum_.store(sum_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    void observe(std::span<const double> bounds, double value) noexcept;
    [[nodiscard]] double value() const noexcept { return sum_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t bucket(std::size_t index) const noexcept {
        return buckets_[index].load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t bucket_count() const noexcept { return buckets_.size(); }

private:
    std::atomic<double> sum_{0};  // of a counter or gauge: its value
    std::vector<std::atomic<std::uint64_t>> buckets_;  // the last one is +Inf
};

using LabelValues = std::vector<std::string>;

// All series of one family in one shard.
class FamilyShard {
public:
    FamilyShard(const Family& family, std::size_t max_series) : family_{&family}, max_series_{max_series} {}
    // The series of these label values, one for each of the family's labels in its order, made at first use. A value
    // that is not UTF-8 (which would spoil the whole scrape) counts as `other`. Only the owning thread. The reference
    // stays valid.
    [[nodiscard]] Series& with(std::span<const std::string_view> values);
    void observe(Series& series, double value) const noexcept { series.observe(family_->buckets, value); }
    [[nodiscard]] const Family& family() const noexcept { return *family_; }

private:
    friend class Exposition;
    // Aligned, so that no two workers write the same cache line.
    struct alignas(64) Entry {
        Entry(LabelValues values, std::size_t bucket_count) : labels{std::move(values)}, series{bucket_count} {}
        LabelValues labels;
        Series series;
    };
    const Family* family_;
    std::size_t max_series_;
    mutable std::mutex growing_;  // taken to add a series and to walk them, never to count
    std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;  // by the joined label values
};

// Collects shards and single values into one text in Prometheus' exposition format 0.0.4.
class Exposition {
public:
    // Sums this shard's series into what is already there.
    void add(const FamilyShard& shard);
    // One value that is known now, with a value for each label; add_value sums it into what is there, set replaces it.
    void add_value(const Family& family, std::span<const std::string_view> values, double value);
    void set(const Family& family, std::span<const std::string_view> values, double value);
    // Families in the order in which they were added, label sets sorted. A family without series does not appear.
    [[nodiscard]] std::string text() const;

private:
    struct Sum {
        LabelValues labels;
        double value = 0;
        std::vector<std::uint64_t> buckets;
    };
    struct Block {
        const Family* family = nullptr;
        std::vector<Sum> sums;
        std::unordered_map<std::string, std::size_t> index;
    };
    static void append_samples(std::string& out, const Family& family, const Sum& sum);
    Block& block_of(const Family& family);
    static Sum& sum_of(Block& block, const LabelValues& labels);
    std::vector<Block> blocks_;
};

}  // namespace weir::metric
