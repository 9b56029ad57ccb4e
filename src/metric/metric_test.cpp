#include "metric/metric.h"

#include "metric/test_exposition.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <thread>

namespace weir::metric {
namespace {

using test::ReadExposition;

constexpr std::array<std::string_view, 2> two_labels{"pool", "reason"};
constexpr std::array<double, 3> bounds{0.1, 1, 10};
const Family counted{
    .name = "weir_things_total", .type = Type::counter, .help = "Things.", .labels = two_labels, .buckets = {}};
const Family plain{.name = "weir_plain_total", .type = Type::counter, .help = "Plain.", .labels = {}, .buckets = {}};
const Family level{.name = "weir_level", .type = Type::gauge, .help = "Level.", .labels = two_labels, .buckets = {}};
const Family timed{
    .name = "weir_wait_seconds", .type = Type::histogram, .help = "Wait.", .labels = two_labels, .buckets = bounds};

Series& series(FamilyShard& shard, std::string_view pool, std::string_view reason) {
    return shard.with(std::array{pool, reason});
}

std::string text_of(std::initializer_list<const FamilyShard*> shards) {
    Exposition exposition;
    for (const auto* shard : shards)
        exposition.add(*shard);
    return exposition.text();
}

TEST(Exposition, SumsTheShardsOfAllWorkers) {
    FamilyShard first{counted, 10}, second{counted, 10};
    series(first, "a", "x").add(2);
    series(second, "a", "x").add(3);
    series(second, "b", "x").add(1);
    const ReadExposition read{text_of({&first, &second})};
    EXPECT_EQ(read.value("weir_things_total", {{"pool", "a"}, {"reason", "x"}}), 5);
    EXPECT_EQ(read.value("weir_things_total", {{"pool", "b"}, {"reason", "x"}}), 1);
}

TEST(Exposition, WritesExactlyThisText) {
    FamilyShard counter{counted, 10}, histogram{timed, 10}, unlabelled{plain, 10};
    series(counter, "b", "x").add(1);
    series(counter, "a", "x").add(2);
    histogram.observe(series(histogram, "p", "r"), 0.1);
    histogram.observe(series(histogram, "p", "r"), 2.5);
    unlabelled.with({}).add(7);
    EXPECT_EQ(text_of({&counter, &histogram, &unlabelled}),
              "# HELP weir_things_total Things.\n"
              "# TYPE weir_things_total counter\n"
              "weir_things_total{pool=\"a\",reason=\"x\"} 2\n"
              "weir_things_total{pool=\"b\",reason=\"x\"} 1\n"
              "# HELP weir_wait_seconds Wait.\n"
              "# TYPE weir_wait_seconds histogram\n"
              "weir_wait_seconds_bucket{pool=\"p\",reason=\"r\",le=\"0.1\"} 1\n"
              "weir_wait_seconds_bucket{pool=\"p\",reason=\"r\",le=\"1\"} 1\n"
              "weir_wait_seconds_bucket{pool=\"p\",reason=\"r\",le=\"10\"} 2\n"
              "weir_wait_seconds_bucket{pool=\"p\",reason=\"r\",le=\"+Inf\"} 2\n"
              "weir_wait_seconds_sum{pool=\"p\",reason=\"r\"} 2.6\n"
              "weir_wait_seconds_count{pool=\"p\",reason=\"r\"} 2\n"
              "# HELP weir_plain_total Plain.\n"
              "# TYPE weir_plain_total counter\n"
              "weir_plain_total 7\n");
}

TEST(Exposition, EscapesValuesAndHelpAsTheFormatAsks) {
    const Family odd{.name = "weir_odd_total",
                     .type = Type::counter,
                     .help = "Back\\slash,\nnew line, \"quotes\".",
                     .labels = two_labels,
                     .buckets = {}};
    FamilyShard shard{odd, 10};
    series(shard, "a\"b\\c\nd", "{},= \xc3\xa4").add(1);
    const auto text = text_of({&shard});
    EXPECT_NE(text.find("# HELP weir_odd_total Back\\\\slash,\\nnew line, \"quotes\".\n"), std::string::npos) << text;
    const ReadExposition read{text};
    EXPECT_EQ(read.value("weir_odd_total", {{"pool", "a\"b\\c\nd"}, {"reason", "{},= \xc3\xa4"}}), 1) << text;
}

TEST(Exposition, LeavesOutAFamilyWithoutSeries) {
    FamilyShard empty{counted, 10};
    EXPECT_EQ(text_of({&empty}), "");
}

TEST(Exposition, AnEmptyValueIsNoLabel) {
    FamilyShard shard{counted, 10};
    series(shard, "", "x").add(1);
    series(shard, "", "").add(2);
    const ReadExposition read{text_of({&shard})};
    EXPECT_EQ(read.value("weir_things_total", {{"reason", "x"}}), 1);
    EXPECT_EQ(read.value("weir_things_total"), 2);
}

TEST(Exposition, ValuesKnownAtScrapeAreSetOrAdded) {
    Exposition exposition;
    exposition.set(level, std::array<std::string_view, 2>{"p", "r"}, 3);
    exposition.set(level, std::array<std::string_view, 2>{"p", "r"}, 0.25);
    exposition.add_value(plain, {}, 2);
    exposition.add_value(plain, {}, 2);
    const ReadExposition read{exposition.text()};
    EXPECT_EQ(read.value("weir_level", {{"pool", "p"}, {"reason", "r"}}), 0.25);
    EXPECT_EQ(read.value("weir_plain_total"), 4);
}

TEST(Exposition, KeepsLargeCountsExact) {
    FamilyShard shard{plain, 10};
    shard.with({}).add(9'007'199'254'740'991.0);
    EXPECT_EQ(ReadExposition{text_of({&shard})}.value("weir_plain_total"), 9'007'199'254'740'991.0);
}

TEST(FamilyShard, CountsSeriesBeyondTheCapUnderOther) {
    FamilyShard shard{counted, 3};
    for (int i = 0; i < 100; ++i)
        series(shard, "p" + std::to_string(i), "x").add(1);
    const ReadExposition read{text_of({&shard})};
    EXPECT_EQ(read.value("weir_things_total", {{"pool", "other"}, {"reason", "other"}}), 97);
    EXPECT_EQ(read.value("weir_things_total", {{"pool", "p2"}, {"reason", "x"}}), 1);
    EXPECT_EQ(read.families().at("weir_things_total").samples.size(), 4U);
    EXPECT_EQ(read.sum("weir_things_total"), 100) << "nothing gets lost";
}

TEST(FamilyShard, AValueThatIsNotUtf8CountsAsOther) {
    FamilyShard shard{counted, 10};
    series(shard, "\xff\xfe", "x").add(1);
    series(shard, "cut \xc3", "x").add(1);
    EXPECT_EQ(ReadExposition{text_of({&shard})}.value("weir_things_total", {{"pool", "other"}, {"reason", "x"}}), 2);
}

TEST(FamilyShard, TheReferenceStaysValidWhileTheFamilyGrows) {
    FamilyShard shard{counted, 5000};
    Series& first = series(shard, "first", "x");
    for (int i = 0; i < 2000; ++i)
        series(shard, std::to_string(i), "x").add(1);
    first.add(1);
    EXPECT_EQ(&series(shard, "first", "x"), &first);
    EXPECT_EQ(first.value(), 1);
}

struct BucketCase {
    std::string name;
    double value;
    std::size_t bucket;
};

TEST(Series, PutsAValueIntoTheBucketWhoseBoundIsNotBelowIt) {
    const std::vector<BucketCase> cases{
        {"zero", 0, 0},
        {"negative", -1, 0},
        {"on the first bound", 0.1, 0},
        {"just above it", std::nextafter(0.1, 1), 1},
        {"on the last bound", 10, 2},
        {"above all", 10.5, 3},
    };
    for (const auto& wanted : cases) {
        Series histogram{bounds.size() + 1};
        histogram.observe(bounds, wanted.value);
        for (std::size_t i = 0; i <= bounds.size(); ++i)
            EXPECT_EQ(histogram.bucket(i), i == wanted.bucket ? 1U : 0U) << wanted.name << " " << i;
    }
}

TEST(Series, IgnoresWhatIsNotAFiniteNumber) {
    Series histogram{bounds.size() + 1};
    for (const double odd : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
        histogram.observe(bounds, odd);
        histogram.add(odd);
    }
    histogram.observe(bounds, 1);
    EXPECT_EQ(histogram.value(), 1);
    EXPECT_EQ(histogram.bucket(0) + histogram.bucket(2) + histogram.bucket(3), 0U);
}

// For the thread sanitizer, too: a scrape reads while two workers count and grow their shards.
TEST(Exposition, AScrapeWhileWorkersWriteSeesWholeHistograms) {
    constexpr int rounds = 20'000;
    FamilyShard first{timed, 100}, second{timed, 100};
    const auto work = [](FamilyShard& shard) {
        for (int i = 0; i < rounds; ++i)
            shard.observe(series(shard, std::to_string(i % 150), "x"), static_cast<double>(i % 20));
    };
    std::thread one{work, std::ref(first)}, two{work, std::ref(second)};
    for (int i = 0; i < 20; ++i)
        const ReadExposition scrape{text_of({&first, &second})};
    one.join();
    two.join();
    EXPECT_EQ(ReadExposition{text_of({&first, &second})}.sum("weir_wait_seconds_count"), 2 * rounds);
}

}  // namespace
}  // namespace weir::metric
