#include "telemetry/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace weir::telemetry {
namespace {

using metric::Type;

TEST(Families, FollowTheRulesForNames) {
    std::set<std::string_view> names;
    for (const auto* family : all_families()) {
        const auto name = family->name;
        EXPECT_TRUE(names.insert(name).second) << name << " twice";
        EXPECT_TRUE(name.starts_with("weir_")) << name;
        EXPECT_EQ(family->type == Type::counter, name.ends_with("_total")) << name;
        if (family->type == Type::histogram) EXPECT_TRUE(name.ends_with("_seconds")) << name;
        EXPECT_TRUE(family->help.ends_with('.')) << name << ": help is a sentence";
        EXPECT_EQ(family->help.find('\n'), std::string_view::npos) << name;
    }
}

TEST(Families, HistogramsHaveAscendingBoundsAndOthersNone) {
    for (const auto* family : all_families()) {
        EXPECT_EQ(family->type == Type::histogram, !family->buckets.empty()) << family->name;
        const auto out_of_order = std::ranges::adjacent_find(family->buckets, std::ranges::greater_equal{});
        EXPECT_EQ(out_of_order, family->buckets.end()) << family->name;
        EXPECT_LE(family->buckets.size(), 20U) << family->name << ": memory is per label set";
    }
}

TEST(Families, LabelNamesAreUniqueAndNeverReserved) {
    for (const auto* family : all_families()) {
        const std::set<std::string_view> labels{family->labels.begin(), family->labels.end()};
        EXPECT_EQ(labels.size(), family->labels.size()) << family->name;
        EXPECT_FALSE(labels.contains("le")) << family->name;
        for (const auto label : labels)
            EXPECT_FALSE(label.starts_with("__")) << family->name;
    }
}

TEST(Families, NeverIdentifyARequestOrAKey) {
    for (const auto* family : all_families())
        for (const auto label : family->labels)
            for (const std::string_view forbidden : {"key", "request_id", "client_request_id", "trace_id"})
                EXPECT_NE(label, forbidden) << family->name;
}

}  // namespace
}  // namespace weir::telemetry
