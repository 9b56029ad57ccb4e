// Rows as the writer hands them over: records with their lines. Only tests include this.
#pragma once

#include "ports/record_store.h"
#include "telemetry/record_json.h"
#include "telemetry/test_record.h"

#include <string>
#include <vector>

namespace weir::store::test {

inline model::RequestRecord record_of(const std::string& id) {
    auto record = telemetry::test::full_record();
    record.request_id = telemetry::test::kept(std::string{id});
    return record;
}

// The records outlive it.
class Rows {
public:
    template <class Records>
    explicit Rows(const Records& records) {
        for (const auto& record : records)
            lines_.push_back(telemetry::to_json(record));
        std::size_t i = 0;
        for (const auto& record : records)
            rows_.push_back({.record = &record, .json = lines_[i++]});
    }
    [[nodiscard]] std::vector<ports::RecordRow>& get() { return rows_; }

private:
    std::vector<std::string> lines_;
    std::vector<ports::RecordRow> rows_;
};

}  // namespace weir::store::test
