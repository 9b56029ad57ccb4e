// A ledger with a store that behaves as told. Only tests include this.
#pragma once

#include "ledger/ledger.h"
#include "ledger/test_spool.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

namespace weir::ledger::test {

using std::chrono::milliseconds;

// What the fake store saw and how it is to behave; shared with the test, which outlives the ledger.
class StoreScript {
public:
    void fail_next(int count) {
        set([&] { failures_left_ = count; });
    }
    void close_gate() {
        set([&] { open_ = false; });
    }
    void open_gate() {
        set([&] { open_ = true; });
    }
    void refuse(const std::string& id) {
        set([&] { refused_id_ = id; });
    }

    base::Status insert(std::span<const ports::RecordRow> rows) {
        std::unique_lock lock{mutex_};
        ++calls_;
        largest_ = std::max(largest_, rows.size());
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        if (failures_left_ > 0) {
            --failures_left_;
            return base::fail(base::ErrorCode::unavailable, "database is locked");
        }
        for (const auto& row : rows) {
            const auto& record = *row.record;
            if (record.request_id == refused_id_) {
                ++skipped_;
                continue;
            }
            ++stored_[std::string{record.request_id}];
            outcomes_[std::string{record.request_id}] = record.outcome;
        }
        changed_.notify_all();
        return {};
    }
    // Waits for the condition, which reads the members under the lock. Bounded.
    template <class Condition>
    [[nodiscard]] bool reaches(Condition condition) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return condition(*this); });
    }
    [[nodiscard]] std::map<std::string, int> stored() {
        const std::scoped_lock lock{mutex_};
        return stored_;
    }
    [[nodiscard]] std::uint64_t skipped() {
        const std::scoped_lock lock{mutex_};
        return skipped_;
    }
    int calls_ = 0;
    std::size_t largest_ = 0;
    std::map<std::string, int> stored_;
    std::map<std::string, model::Outcome> outcomes_;

private:
    template <class Change>
    void set(Change change) {
        const std::scoped_lock lock{mutex_};
        change();
        changed_.notify_all();
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = true;
    int failures_left_ = 0;
    std::uint64_t skipped_ = 0;
    std::string refused_id_;
};

class ScriptedStore final : public ports::RecordStore {
public:
    explicit ScriptedStore(StoreScript& script) : script_{script} {}
    base::Status insert(std::span<const ports::RecordRow> rows) override { return script_.insert(rows); }
    base::Result<bool> contains(std::string_view id) override { return script_.stored().contains(std::string{id}); }
    base::Result<std::optional<std::string>> find_json(std::string_view) override {
        return std::optional<std::string>{};
    }
    std::uint64_t skipped() const noexcept override { return script_.skipped(); }

private:
    StoreScript& script_;
};

class LedgerFixture : public testing::Test {
protected:
    LedgerFixture() {
        std::string path = (std::filesystem::temp_directory_path() / "weir-ledger-XXXXXX").string();
        directory_ = ::mkdtemp(path.data());
    }
    ~LedgerFixture() override {
        script_.open_gate();
        ledger_.reset();
        std::filesystem::remove_all(directory_);
    }
    [[nodiscard]] SpoolOptions small_spool() const {
        return {.path = directory_ / "spool", .cap_bytes = 8 << 20, .segment_bytes = min_segment_bytes};
    }
    void start(LedgerOptions options = {.access_log_path = "off"}) {
        options.store = std::make_unique<ScriptedStore>(script_);
        options.batch_delay = milliseconds{1};
        if (options.spool.path.empty()) options.spool = small_spool();
        options.report = [this](std::string_view text) {
            const std::scoped_lock lock{reports_mutex_};
            reports_.emplace_back(text);
        };
        auto started = Ledger::start(std::move(options));
        ASSERT_TRUE(started) << started.error().message();
        ledger_ = *std::move(started);
    }
    // False: the spool had no room for it. Waits for a segment to be made ready, as the first of a burst may have to.
    bool submit_one(const std::string& id, std::size_t worker = 0) {
        auto& spool = ledger_->spool(worker);
        const auto record = record_of(id);
        auto ticket = spool.begin(record);
        for (int i = 0; i < patience_ms_ && !ticket.open(); ++i) {
            std::this_thread::sleep_for(milliseconds{1});
            ticket = spool.begin(record);
        }
        const bool begun = ticket.open();
        spool.end(ticket, record, Ending::provisional);
        spool.settle(ticket);
        return begun;
    }
    void submit(int count, int first = 0, std::size_t worker = 0) {
        for (int i = first; i < first + count; ++i)
            EXPECT_TRUE(submit_one("r" + std::to_string(i), worker));
    }
    // Bounded.
    template <class Condition>
    [[nodiscard]] static bool comes(Condition condition) {
        for (int i = 0; i < 20'000 && !condition(); ++i)
            std::this_thread::sleep_for(milliseconds{1});
        return condition();
    }
    // Submits records until there is no room, and none is to come because the spool is `full`. Returns how many.
    template <class Full>
    [[nodiscard]] int fill(Full full) {
        patience_ms_ = 50;
        int let_in = 0;
        for (int failed = 0; let_in < 100'000 && failed < 400;) {
            const bool is_full = full();
            if (submit_one("r" + std::to_string(let_in)))
                ++let_in;
            else if (is_full)
                return let_in;
            else
                ++failed;
        }
        ADD_FAILURE() << "it was never full";
        return let_in;
    }
    bool reported(std::string_view part) {
        const std::scoped_lock lock{reports_mutex_};
        return std::ranges::any_of(
            reports_, [part](const std::string& report) { return report.find(part) != std::string::npos; });
    }
    [[nodiscard]] std::vector<std::string> segments() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator{directory_ / "spool"})
            if (entry.path().extension() == ".seg") found.push_back(entry.path().filename());
        return found;
    }
    std::vector<std::string> lines_of(const std::filesystem::path& file) {
        std::ifstream in{file};
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);)
            lines.push_back(line);
        return lines;
    }
    [[nodiscard]] std::filesystem::path log_path() const { return directory_ / "access.log"; }

    std::filesystem::path directory_;
    StoreScript script_;
    std::mutex reports_mutex_;
    std::vector<std::string> reports_;
    int patience_ms_ = 10'000;
    std::unique_ptr<Ledger> ledger_;
};

}  // namespace weir::ledger::test
