// RecordInsert: puts records into the table, in the order of their time and many with one statement. One that is there
// already stays as it is; one that the table can never take is skipped. Threads: those of its database, which outlives
// it.
#pragma once

#include "base/time.h"
#include "ports/record_store.h"
#include "store/sqlite_handle.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::store {

class RecordInsert {
public:
    [[nodiscard]] static base::Result<RecordInsert> prepare(sqlite3* database);

    // Within the caller's transaction. How many were skipped; an error leaves the transaction for the caller to end.
    [[nodiscard]] base::Result<std::uint64_t> run(std::span<const ports::RecordRow> rows);

private:
    static constexpr std::size_t group_rows = 16;  // for one statement
    struct Placed {
        base::WallTime time;
        const ports::RecordRow* row = nullptr;
        friend auto operator<=>(const Placed&, const Placed&) = default;
    };

    RecordInsert(sqlite3* database, Statement one, Statement group);
    [[nodiscard]] int insert_group(std::span<const Placed> group);
    [[nodiscard]] int insert_one(const ports::RecordRow& row);
    [[nodiscard]] bool place_is_taken() const noexcept;

    sqlite3* database_;
    Statement one_;
    Statement group_;
    std::vector<Placed> sorted_;
};

}  // namespace weir::store
