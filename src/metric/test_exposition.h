// A strict reader of Prometheus' text exposition format 0.0.4: fails the test on anything that a scraper would refuse
// or misread (escapes, order, duplicates, buckets that shrink). Shares no code with the writer. Only tests include
// this.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::metric::test {

using Labels = std::map<std::string, std::string>;

struct ReadFamily {
    std::string help;
    std::string type;
    // By sample name (with _bucket, _sum, _count) and labels.
    std::map<std::pair<std::string, Labels>, double> samples;
};

class ReadExposition {
public:
    explicit ReadExposition(std::string_view text) {
        EXPECT_TRUE(text.empty() || text.ends_with('\n')) << "the last line has no end";
        while (!text.empty()) {
            const auto end = text.find('\n');
            read_line(text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
        for (const auto& [name, family] : families_)
            check(name, family);
    }

    [[nodiscard]] const std::map<std::string, ReadFamily>& families() const { return families_; }
    // nullopt: no such sample.
    [[nodiscard]] std::optional<double> value(const std::string& sample, const Labels& labels = {}) const {
        for (const auto& [name, family] : families_)
            if (const auto found = family.samples.find({sample, labels}); found != family.samples.end())
                return found->second;
        return std::nullopt;
    }
    // Sum over the samples that have (at least) these labels.
    [[nodiscard]] double sum(const std::string& sample, const Labels& wanted = {}) const {
        double total = 0;
        for (const auto& [name, family] : families_)
            for (const auto& [key, value] : family.samples) {
                bool fits = key.first == sample;
                for (const auto& [label, text] : wanted) {
                    const auto found = key.second.find(label);
                    fits = fits && found != key.second.end() && found->second == text;
                }
                if (fits) total += value;
            }
        return total;
    }

private:
    static bool is_name(std::string_view name, bool colons) {
        if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
        for (const char c : name)
            if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  (colons && c == ':')))
                return false;
        return true;
    }
    void read_line(std::string_view line) {
        ASSERT_FALSE(line.empty()) << "an empty line";
        if (line.starts_with("# HELP ")) return begin_family(line.substr(7));
        if (line.starts_with("# TYPE ")) return read_type(line.substr(7));
        ASSERT_FALSE(line.starts_with('#')) << line;
        read_sample(line);
    }
    void begin_family(std::string_view rest) {
        const auto blank = rest.find(' ');
        ASSERT_NE(blank, std::string_view::npos) << rest;
        current_ = rest.substr(0, blank);
        EXPECT_TRUE(is_name(current_, true)) << current_;
        EXPECT_FALSE(families_.contains(current_)) << current_ << " appears twice";
        std::string help;
        for (std::size_t i = blank + 1; i < rest.size(); ++i) {
            if (rest[i] != '\\') {
                help += rest[i];
                continue;
            }
            ASSERT_LT(i + 1, rest.size());
            ++i;
            ASSERT_TRUE(rest[i] == '\\' || rest[i] == 'n') << rest;
            help += rest[i] == 'n' ? '\n' : '\\';
        }
        families_[current_].help = help;
    }
    void read_type(std::string_view rest) {
        const auto blank = rest.find(' ');
        ASSERT_EQ(rest.substr(0, blank), current_) << "TYPE does not follow its HELP";
        auto& family = families_[current_];
        EXPECT_TRUE(family.type.empty());
        family.type = rest.substr(blank + 1);
        EXPECT_TRUE(family.type == "counter" || family.type == "gauge" || family.type == "histogram") << family.type;
    }
    void read_sample(std::string_view line) {
        auto at = line.find_first_of("{ ");
        ASSERT_NE(at, std::string_view::npos) << line;
        const std::string name{line.substr(0, at)};
        Labels labels;
        if (line[at] == '{') read_labels(line, at, labels);
        ASSERT_LT(at, line.size()) << line;
        ASSERT_EQ(line[at], ' ') << line;
        const std::string number{line.substr(at + 1)};
        char* end = nullptr;
        const double value = std::strtod(number.c_str(), &end);
        EXPECT_TRUE(*end == '\0' && !number.empty() && number[0] != ' ') << line;
        auto& family = families_[current_];
        const auto suffix = std::string_view{name}.substr(std::min(name.size(), current_.size()));
        const bool of_histogram = suffix == "_bucket" || suffix == "_sum" || suffix == "_count";
        EXPECT_TRUE(name.starts_with(current_) && (family.type == "histogram" ? of_histogram : suffix.empty()))
            << line << " stands under " << current_;
        const bool fresh = family.samples.emplace(std::pair{name, labels}, value).second;
        EXPECT_TRUE(fresh) << line << " appears twice";
    }
    // From '{' to after '}'.
    static void read_labels(std::string_view line, std::size_t& at, Labels& labels) {
        do {
            ++at;
            const auto equals = line.find("=\"", at);
            ASSERT_NE(equals, std::string_view::npos) << line;
            const std::string name{line.substr(at, equals - at)};
            EXPECT_TRUE(is_name(name, false)) << line;
            std::string value;
            for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
                if (line[at] != '\\') {
                    value += line[at];
                    continue;
                }
                ++at;
                ASSERT_LT(at, line.size()) << line;
                ASSERT_TRUE(line[at] == '\\' || line[at] == '"' || line[at] == 'n') << line;
                value += line[at] == 'n' ? '\n' : line[at];
            }
            EXPECT_TRUE(labels.emplace(name, value).second) << line << ": " << name << " appears twice";
            ++at;
            ASSERT_LT(at, line.size()) << line;
        } while (line[at] == ',');
        ASSERT_EQ(line[at], '}') << line;
        ++at;
    }
    static void check(const std::string& name, const ReadFamily& family) {
        EXPECT_FALSE(family.type.empty()) << name << " has no TYPE";
        EXPECT_FALSE(family.samples.empty()) << name << " has no samples";
        if (family.type == "counter") EXPECT_TRUE(name.ends_with("_total")) << name;
        for (const auto& [key, value] : family.samples)
            if (family.type == "counter") EXPECT_GE(value, 0) << name;
        if (family.type != "histogram") return;
        std::map<Labels, std::map<double, double>> buckets;
        for (const auto& [key, value] : family.samples) {
            if (key.first != name + "_bucket") continue;
            Labels labels = key.second;
            const auto bound = labels.extract("le");
            ASSERT_FALSE(bound.empty()) << name << ": a bucket without le";
            buckets[labels][std::strtod(bound.mapped().c_str(), nullptr)] = value;
        }
        EXPECT_FALSE(buckets.empty()) << name;
        for (const auto& [labels, by_bound] : buckets) {
            double below = 0;
            for (const auto& [bound, count] : by_bound) {
                EXPECT_GE(count, below) << name << ": buckets are cumulative";
                below = count;
            }
            EXPECT_TRUE(std::isinf(by_bound.rbegin()->first)) << name << " has no +Inf bucket";
            const auto count = family.samples.find({name + "_count", labels});
            ASSERT_NE(count, family.samples.end()) << name << " has no _count";
            EXPECT_EQ(count->second, below) << name;
            EXPECT_TRUE(family.samples.contains({name + "_sum", labels})) << name << " has no _sum";
        }
    }

    std::map<std::string, ReadFamily> families_;
    std::string current_;
};

}  // namespace weir::metric::test
