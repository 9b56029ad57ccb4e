// A spool directory of a test's own, spools in it, and records by id. Only tests include this.
#pragma once

#include "ledger/segment_shelf.h"
#include "ledger/spool.h"
#include "ledger/spool_directory.h"
#include "telemetry/record_codec.h"
#include "telemetry/test_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace weir::ledger::test {

inline model::RequestRecord record_of(const std::string& id) {
    model::RequestRecord record;
    record.request_id = telemetry::test::kept(id);
    return record;
}

// As if its line was written and the store had taken it.
inline void done_with(const Ready& one) {
    if (one.final_in != nullptr) --one.final_in->unlogged;
    --one.segment->unstored;
}

// What the recovered or collected records say, as "id outcome": "a ok", "b interrupted".
inline std::vector<std::string> texts_of(const std::vector<Ready>& ready) {
    std::vector<std::string> texts;
    for (const auto& one : ready) {
        model::RequestRecord record;
        EXPECT_TRUE(telemetry::decode_record(one.payload, record));
        const auto outcome = one.interrupted ? model::Outcome::interrupted : record.outcome;
        texts.push_back(std::string{record.request_id} + " " + std::string{model::name_of(outcome)});
    }
    std::ranges::sort(texts);
    return texts;
}

class SpoolFixture : public testing::Test {
protected:
    SpoolFixture() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-spool-XXXXXX").string();
        root_ = ::mkdtemp(path.data());
    }
    ~SpoolFixture() override {
        spools_.clear();
        shelf_.reset();
        directory_.reset();
        std::filesystem::remove_all(root_);
    }
    [[nodiscard]] SpoolOptions options() const {
        return {.path = root_ / "spool", .cap_bytes = 4 << 20, .segment_bytes = min_segment_bytes};
    }
    // A process that begins: the directory, its shelf, `workers` spools with `segments` each.
    void begin(const SpoolOptions& given, std::size_t workers = 1, int segments = 3) {
        auto opened = SpoolDirectory::open(given, workers);
        ASSERT_TRUE(opened) << opened.error().message();
        directory_ = *std::move(opened);
        shelf_ =
            std::make_unique<SegmentShelf>(*directory_, [this](const std::string& text) { reports_.push_back(text); });
        recovered_.clear();
        shelf_->recover(recovered_);
        for (std::uint32_t i = 0; i < workers; ++i) {
            spools_.push_back(std::make_unique<Spool>(i, *directory_, room_wanted_, news_));
            for (int segment = 0; segment < segments; ++segment)
                grant(i);
        }
    }
    void begin() { begin(options()); }
    bool grant(std::uint32_t worker = 0) {
        auto segment = directory_->allocate(worker);
        if (!segment) return false;
        spools_[worker]->grant(*std::move(segment));
        return true;
    }
    // The process dies: its files stay as they are.
    void die() {
        ready_.clear();
        spools_.clear();
        shelf_.reset();
        directory_.reset();
    }
    Spool& spool(std::size_t worker = 0) { return *spools_[worker]; }
    // A whole request.
    void write(const std::string& id, std::size_t worker = 0) {
        auto ticket = spool(worker).begin(record_of(id));
        ASSERT_TRUE(ticket.open()) << id;
        spool(worker).end(ticket, record_of(id), Ending::provisional);
        spool(worker).settle(ticket);
    }
    // What became final since the last call.
    std::vector<std::string> read() {
        ready_.clear();
        shelf_->read(spools_, ready_);
        return texts_of(ready_);
    }
    // As if the store had taken what was read.
    void store() {
        for (const auto& one : ready_)
            done_with(one);
        ready_.clear();
        shelf_->retire();
    }
    [[nodiscard]] std::vector<std::filesystem::path> segments() const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator{root_ / "spool"})
            if (entry.path().extension() == ".seg") found.push_back(entry.path());
        std::ranges::sort(found);
        return found;
    }
    [[nodiscard]] bool reported(std::string_view part) const {
        return std::ranges::any_of(reports_, [part](const auto& text) { return text.find(part) != std::string::npos; });
    }

    std::filesystem::path root_;
    Bell room_wanted_;
    Bell news_;
    std::vector<std::string> reports_;
    std::unique_ptr<SpoolDirectory> directory_;
    std::unique_ptr<SegmentShelf> shelf_;
    std::vector<std::unique_ptr<Spool>> spools_;
    std::vector<Ready> ready_;
    std::vector<Ready> recovered_;
};

}  // namespace weir::ledger::test
