#include "store/record_insert.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::store {

namespace {

constexpr std::string_view columns =
    "(time_ns, request_id, tenant, team, application, key, alias, pool, status, outcome, reason, prompt_tokens, "
    "cached_tokens, completion_tokens, reasoning_tokens, record)";
constexpr std::string_view parameters = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

std::string insert_one_sql() {
    std::string sql = "INSERT INTO request_records ";
    return sql.append(columns).append(" VALUES ").append(parameters).append(" ON CONFLICT (request_id) DO NOTHING");
}

// What it leaves out, for whatever reason, is for the statement above.
std::string insert_group_sql(std::size_t rows) {
    std::string sql = "INSERT OR IGNORE INTO request_records ";
    sql.append(columns).append(" VALUES ").append(parameters);
    for (std::size_t i = 1; i < rows; ++i)
        sql.append(", ").append(parameters);
    return sql;
}

// Binds values, one after another. Texts are not copied: they live until the statement has run. What is not known is
// NULL.
class Values {
public:
    explicit Values(sqlite3_stmt* statement) noexcept : statement_{statement} { sqlite3_clear_bindings(statement); }
    Values& text(std::string_view value) {
        ++index_;
        if (!value.empty()) bind_text(statement_, index_, value);
        return *this;
    }
    Values& number(std::int64_t value) {
        sqlite3_bind_int64(statement_, ++index_, value);
        return *this;
    }
    Values& count(const std::optional<std::uint64_t>& value) {
        ++index_;
        if (value) sqlite3_bind_int64(statement_, index_, static_cast<std::int64_t>(*value));
        return *this;
    }
    Values& nothing() noexcept {
        ++index_;
        return *this;
    }

private:
    sqlite3_stmt* statement_;
    int index_ = 0;
};

// Where the row goes: at its time, and where that is taken, a little later.
std::int64_t place_of(const model::RequestRecord& record, unsigned tries) {
    constexpr unsigned neighbours = 4;
    constexpr std::size_t spread_ns = 1'000'000;
    const std::int64_t time = record.time.time_since_epoch().count();
    if (tries < neighbours) return time + tries;
    const auto mixed = std::hash<std::string_view>{}(record.request_id) * (2 * tries + 1);
    return time + static_cast<std::int64_t>((mixed >> 20U) % spread_ns);
}

void bind(Values& row, const model::RequestRecord& record, std::string_view json) {
    row.number(place_of(record, 0)).text(record.request_id);
    row.text(record.caller.tenant).text(record.caller.team).text(record.caller.application).text(record.caller.key);
    row.text(record.alias).text(record.pool);
    if (record.status != 0)
        row.number(record.status);
    else
        row.nothing();
    row.text(model::name_of(record.outcome)).text(record.reason ? model::name_of(*record.reason) : "");
    row.count(record.prompt_tokens).count(record.cached_tokens);
    row.count(record.completion_tokens).count(record.reasoning_tokens).text(json);
}

// SQLITE_DONE, or why not.
int run_once(sqlite3_stmt* statement) noexcept {
    const int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result;
}

// A row that breaks a rule of the table or is too big will never fit; every other failure may pass.
bool never_acceptable(int result) noexcept {
    return result == SQLITE_CONSTRAINT || result == SQLITE_TOOBIG || result == SQLITE_MISMATCH;
}

}  // namespace

RecordInsert::RecordInsert(sqlite3* database, Statement one, Statement group)
    : database_{database}, one_{std::move(one)}, group_{std::move(group)} {}

base::Result<RecordInsert> RecordInsert::prepare(sqlite3* database) {
    auto one = store::prepare(database, insert_one_sql());
    if (!one) return std::unexpected{std::move(one).error()};
    auto group = store::prepare(database, insert_group_sql(group_rows));
    if (!group) return std::unexpected{std::move(group).error()};
    return RecordInsert{database, *std::move(one), *std::move(group)};
}

base::Result<std::uint64_t> RecordInsert::run(std::span<const ports::RecordRow> rows) {
    // Requests do not end in the order in which they came. In the order of the table and of its index each page is
    // filled once, at its end.
    sorted_.clear();
    for (const auto& row : rows)
        sorted_.push_back({.time = row.record->time, .row = &row});
    std::ranges::sort(sorted_);
    std::uint64_t skipped = 0;
    std::span<const Placed> left{sorted_};
    while (!left.empty()) {
        const auto part = left.first(std::min(left.size(), group_rows));
        left = left.subspan(part.size());
        if (part.size() == group_rows) {
            const int result = insert_group(part);
            if (result == SQLITE_DONE && sqlite3_changes(database_) == static_cast<int>(group_rows)) continue;
            if (result != SQLITE_DONE && !never_acceptable(result)) return sqlite_error(database_, "insert");
        }
        for (const auto& [time, row] : part) {
            const int result = insert_one(*row);
            if (result == SQLITE_DONE) continue;
            if (!never_acceptable(result)) return sqlite_error(database_, "insert");
            ++skipped;
        }
    }
    return skipped;
}

int RecordInsert::insert_group(std::span<const Placed> group) {
    Values values{group_.get()};
    for (const auto& [time, row] : group)
        bind(values, *row->record, row->json);
    return run_once(group_.get());
}

int RecordInsert::insert_one(const ports::RecordRow& row) {
    constexpr unsigned most_tries = 64;
    Values values{one_.get()};
    bind(values, *row.record, row.json);
    int result = run_once(one_.get());
    for (unsigned tries = 1; tries < most_tries && result == SQLITE_CONSTRAINT && place_is_taken(); ++tries) {
        sqlite3_bind_int64(one_.get(), 1, place_of(*row.record, tries));
        result = run_once(one_.get());
    }
    return result;
}

bool RecordInsert::place_is_taken() const noexcept {
    const int why = sqlite3_extended_errcode(database_);
    return why == SQLITE_CONSTRAINT_ROWID || why == SQLITE_CONSTRAINT_PRIMARYKEY;
}

}  // namespace weir::store
