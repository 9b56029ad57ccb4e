#include "store/sqlite_record_reader.h"

#include <fmt/format.h>

#include <utility>

namespace weir::store {

using base::Result;
using base::Status;

Result<std::optional<std::string>> select_record(sqlite3* database, std::string_view request_id) {
    auto statement = prepare(database, "SELECT record FROM request_records WHERE request_id = ?");
    if (!statement) return std::unexpected{std::move(statement).error()};
    auto* row = statement->get();
    bind_text(row, 1, request_id);
    const int step = sqlite3_step(row);
    if (step == SQLITE_DONE) return std::optional<std::string>{};
    if (step != SQLITE_ROW) return sqlite_error(database, "find");
    return std::optional{std::string{text_of(row, 0)}};
}

Result<std::unique_ptr<SqliteRecordReader>> SqliteRecordReader::open(const std::string& path) {
    std::unique_ptr<SqliteRecordReader> reader{new SqliteRecordReader{path}};
    if (auto connected = reader->connect(true); !connected) return std::unexpected{std::move(connected).error()};
    return reader;
}

Status SqliteRecordReader::connect(bool fill) {
    file_.closing();
    database_.reset();
    StoreFile next{path_};
    auto opened = open_sqlite(path_, {.create = false, .fill = fill});
    if (!opened) return std::unexpected{std::move(opened).error()};
    next.opened();
    file_ = std::move(next);
    database_ = *std::move(opened);
    return {};
}

Result<std::optional<std::string>> SqliteRecordReader::find(std::string_view request_id) {
    const auto place = file_.look();
    if (!place) return std::unexpected{place.error()};
    if (*place == StoreFile::Place::replaced || !database_)
        if (auto connected = connect(false); !connected) return std::unexpected{std::move(connected).error()};
    auto found = select_record(database_.get(), request_id);
    if (!found) return std::unexpected{std::move(found).error().within(fmt::format("store {}", path_))};
    return found;
}

}  // namespace weir::store
