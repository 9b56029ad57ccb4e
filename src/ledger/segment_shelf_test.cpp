#include "ledger/segment_shelf.h"

#include "base/random.h"
#include "ledger/test_spool.h"

#include <cstring>
#include <fstream>
#include <functional>
#include <set>

namespace weir::ledger {
namespace {

using test::done_with;
using test::record_of;
using test::texts_of;
using Texts = std::vector<std::string>;

class SegmentShelfTest : public test::SpoolFixture {
protected:
    // Enough requests to fill a segment and begin the next.
    void fill_a_segment(const std::string& prefix) {
        for (int i = 0; i < 450; ++i) {
            if (keep_room_)
                while (spool().missing())
                    ASSERT_TRUE(grant());
            write(prefix + std::to_string(i));
        }
    }
    bool keep_room_ = false;
    static void change(const std::filesystem::path& file, std::size_t offset, const std::function<char(char)>& how) {
        std::fstream stream{file, std::ios::in | std::ios::out | std::ios::binary};
        stream.seekg(static_cast<std::streamoff>(offset));
        const auto old = static_cast<char>(stream.get());
        stream.seekp(static_cast<std::streamoff>(offset));
        stream.put(how(old));
    }
};

TEST_F(SegmentShelfTest, AfterADeathEveryRequestHasItsRecord) {
    begin();
    write("settled");
    auto provisional = spool().begin(record_of("provisional"));
    spool().end(provisional, record_of("provisional"), Ending::provisional);
    auto amended = spool().begin(record_of("amended"));
    spool().end(amended, record_of("amended"), Ending::provisional);
    auto gone = record_of("amended");
    gone.outcome = model::Outcome::client_closed;
    spool().end(amended, gone, Ending::final_);
    static_cast<void>(spool().begin(record_of("begun")));
    die();
    begin();
    EXPECT_EQ(texts_of(recovered_),
              (Texts{"amended client_closed", "begun interrupted", "provisional ok", "settled ok"}));
    EXPECT_TRUE(reported("4 records, 1 of them of interrupted requests; 3 segments, 0 damaged frames"));
}

TEST_F(SegmentShelfTest, ASegmentStaysUntilTheLinesOfWhatBecameFinalInItAreWritten) {
    begin();
    write("a");
    die();
    begin(options(), 1, 0);
    ASSERT_EQ(recovered_.size(), 1U);
    ASSERT_NE(recovered_[0].final_in, nullptr);
    --recovered_[0].segment->unstored;
    shelf_->retire();
    EXPECT_EQ(segments().size(), 1U);
    --recovered_[0].final_in->unlogged;
    shelf_->retire();
    EXPECT_TRUE(segments().empty());
}

TEST_F(SegmentShelfTest, WhatIsStoredIsGone) {
    begin();
    write("a");
    die();
    begin(options(), 1, 0);
    EXPECT_EQ(recovered_.size(), 1U);
    EXPECT_EQ(segments().size(), 3U);
    for (const auto& one : recovered_)
        done_with(one);
    shelf_->retire();
    EXPECT_TRUE(segments().empty());
    EXPECT_EQ(directory_->bytes(), 0U);
}

TEST_F(SegmentShelfTest, WhatIsNotStoredIsFoundAgain) {
    begin();
    write("a");
    for (int life = 0; life < 3; ++life) {
        die();
        begin(options(), 1, 1);
        EXPECT_EQ(texts_of(recovered_), Texts{"a ok"}) << life;
    }
}

TEST_F(SegmentShelfTest, TheFramesOfSeveralWorkersAreNotMixed) {
    begin(options(), 3, 2);
    for (std::size_t worker = 0; worker < 3; ++worker) {
        write("w" + std::to_string(worker), worker);
        static_cast<void>(spool(worker).begin(record_of("open" + std::to_string(worker))));
    }
    die();
    begin();
    EXPECT_EQ(texts_of(recovered_),
              (Texts{"open0 interrupted", "open1 interrupted", "open2 interrupted", "w0 ok", "w1 ok", "w2 ok"}));
}

TEST_F(SegmentShelfTest, ATornFrameEndsItsSegmentAndHarmsNothingBefore) {
    begin();
    write("a");
    write("b");
    const auto file = segments().front();
    die();
    // As if the process had died before it stored the length of b's settled frame: find it from behind.
    std::string bytes(min_segment_bytes, '\0');
    std::ifstream{file, std::ios::binary}.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    std::size_t at = segment_header_bytes;
    std::size_t last = at;
    for (std::uint32_t length = 1; length != 0; at += frame_stride(length)) {
        std::memcpy(&length, bytes.data() + at, sizeof length);
        if (length != 0) last = at;
    }
    change(file, last, [](char) { return '\0'; });
    begin();
    EXPECT_EQ(texts_of(recovered_), (Texts{"a ok", "b ok"})) << "b's end was provisional, and counts";
    EXPECT_TRUE(reported("2 records, 0 of them of interrupted requests; 3 segments, 0 damaged frames"));
}

TEST_F(SegmentShelfTest, ADamagedFrameIsCountedAndToldWithItsPosition) {
    begin();
    write("a");
    write("b");
    const auto file = segments().front();
    die();
    change(file, segment_header_bytes + 40, [](char old) { return static_cast<char>(old ^ 1); });
    begin();
    EXPECT_EQ(texts_of(recovered_), Texts{}) << "the first frame ends the segment";
    EXPECT_TRUE(reported(file.string() + ": offset 64: the frame is damaged"));
    EXPECT_TRUE(reported("0 records, 0 of them of interrupted requests; 3 segments, 1 damaged frames"));
}

TEST_F(SegmentShelfTest, AFrameOfAnotherVersionIsKeptForIt) {
    begin(options(), 1, 1);
    write("a");
    const auto file = segments().front();
    auto* const frame = [this] {
        ready_.clear();
        shelf_->read(spools_, ready_);
        return const_cast<std::byte*>(ready_.front().payload.data());
    }();
    // The next frame, of a later version.
    static_cast<void>(spool().begin(record_of("later")));
    std::byte* const data = frame - (reinterpret_cast<std::uintptr_t>(frame) % 4096);
    std::size_t at = segment_header_bytes;
    for (auto view = read_frame({data + at, min_segment_bytes - at}); view.header.sequence != 4;
         view = read_frame({data + at, min_segment_bytes - at}))
        at += frame_stride(view.header.length);
    static_cast<void>(
        publish_frame(data + at, {.version = 2, .kind = FrameKind::begin, .sequence = 4, .request = 4}, 8));
    ready_.clear();
    die();
    begin(options(), 1, 0);
    EXPECT_EQ(texts_of(recovered_), Texts{"a ok"});
    EXPECT_TRUE(reported("written by another version of weir"));
    for (const auto& one : recovered_)
        done_with(one);
    shelf_->retire_all();
    EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(SegmentShelfTest, RandomDamageLosesRecordsButNeverMakesOne) {
    const std::uint64_t seed = base::Random::from_system()();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::Random random{seed};
    for (int round = 0; round < 60; ++round) {
        begin();
        for (int i = 0; i < 20; ++i)
            write("r" + std::to_string(i));
        const auto file = segments().front();
        die();
        const std::size_t changes = 1 + random.below(4);
        for (std::size_t i = 0; i < changes; ++i) {
            const auto value = static_cast<char>(random.below(256));
            change(file, segment_header_bytes + random.below(8000), [value](char) { return value; });
        }
        begin(options(), 1, 0);
        std::set<std::string> seen;
        for (const auto& text : texts_of(recovered_)) {
            EXPECT_TRUE(text.starts_with("r")) << text;
            EXPECT_TRUE(seen.insert(text).second) << text;
        }
        for (const auto& one : recovered_)
            done_with(one);
        shelf_->retire_all();
        EXPECT_TRUE(segments().empty()) << "damage is not kept for ever";
        die();
    }
}

TEST_F(SegmentShelfTest, ASegmentGoesWhenItsRecordsAreStoredAndNotBefore) {
    begin(options(), 1, 6);
    fill_a_segment("r");
    ASSERT_GT(read().size(), 400U);
    shelf_->retire();
    EXPECT_EQ(segments().size(), 6U) << "nothing is stored";
    store();
    EXPECT_LT(segments().size(), 6U);
}

TEST_F(SegmentShelfTest, ALongRequestKeepsNoSegmentBusy) {
    begin(options(), 1, 4);
    keep_room_ = true;
    auto begun = spool().begin(record_of("long"));
    auto ended = spool().begin(record_of("slow to settle"));
    spool().end(ended, record_of("slow to settle"), Ending::provisional);
    for (int round = 0; round < 20; ++round) {
        fill_a_segment(std::to_string(round) + "-");
        read();
        store();
    }
    EXPECT_LE(segments().size(), 6U) << "one carry segment, and the spool's own";
    spool().end(begun, record_of("long"), Ending::final_);
    spool().settle(ended);
    EXPECT_EQ(read(), (Texts{"long ok", "slow to settle ok"}));
    store();
    spool().close();
    read();
    shelf_->retire_all();
    for (const auto& unused : spool().take_unused())
        directory_->remove(*unused);
    EXPECT_TRUE(segments().empty());
}

TEST_F(SegmentShelfTest, ACarriedRequestSurvivesADeathOnce) {
    begin(options(), 1, 4);
    static_cast<void>(spool().begin(record_of("long")));
    auto ended = spool().begin(record_of("slow to settle"));
    spool().end(ended, record_of("slow to settle"), Ending::provisional);
    fill_a_segment("r");
    read();
    store();
    const auto carried = std::ranges::count_if(
        segments(), [](const auto& file) { return file.filename().string().find("-ffff-") != std::string::npos; });
    EXPECT_EQ(carried, 1);
    die();
    begin(options(), 1, 4);
    const auto texts = texts_of(recovered_);
    EXPECT_EQ(std::ranges::count(texts, "long interrupted"), 1);
    EXPECT_EQ(std::ranges::count(texts, "slow to settle ok"), 1);
}

TEST_F(SegmentShelfTest, CarriedFramesAreMovedOnUntilTheirSegmentIsDead) {
    begin(options(), 1, 4);
    keep_room_ = true;
    std::vector<Ticket> open;
    int opened = 0;
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; i < 10; ++i) {
            open.push_back(spool().begin(record_of("o" + std::to_string(opened++))));
            ASSERT_TRUE(open.back().open());
        }
        fill_a_segment(std::to_string(round) + "-");
        // The oldest end.
        while (open.size() > 30) {
            spool().end(open.front(), record_of("ended"), Ending::final_);
            open.erase(open.begin());
        }
        read();
        store();
    }
    EXPECT_LE(segments().size(), 8U);
}

TEST_F(SegmentShelfTest, WithoutRoomForACarrySegmentNothingIsLost) {
    auto full = options();
    bool no_room = false;
    full.allocate = [&no_room](int descriptor, std::size_t bytes) {
        return no_room ? ENOSPC : allocate_on_disk(descriptor, bytes);
    };
    begin(full, 1, 6);
    auto begun = spool().begin(record_of("long"));
    no_room = true;
    fill_a_segment("r");
    read();
    store();
    EXPECT_TRUE(reported("segments of open requests stay"));
    no_room = false;
    shelf_->retire();
    spool().end(begun, record_of("long"), Ending::final_);
    EXPECT_EQ(read(), Texts{"long ok"});
}

}  // namespace
}  // namespace weir::ledger
