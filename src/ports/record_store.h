// RecordStore: where finished records live. An adapter; all calls block and belong to the writer thread.
// Invariant: idempotent by request id: a record that is there already is not written twice.
#pragma once

#include "base/result.h"
#include "model/record.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::ports {

// A record and the same as JSON, with the names of contract.md section 6. Both live until insert() returns.
struct RecordRow {
    const model::RequestRecord* record = nullptr;
    std::string_view json;
};

class RecordStore {
public:
    virtual ~RecordStore() = default;
    // All of them, or (on an error) none: then the same records are to be given again. A record that the store can
    // never take is skipped and counted, so that it blocks nobody. Errors: unavailable (locked, full, gone).
    [[nodiscard]] virtual base::Status insert(std::span<const RecordRow> rows) = 0;
    // Errors: unavailable.
    [[nodiscard]] virtual base::Result<bool> contains(std::string_view request_id) = 0;
    // The record as JSON; nullopt = unknown. Errors: unavailable.
    [[nodiscard]] virtual base::Result<std::optional<std::string>> find_json(std::string_view request_id) = 0;
    [[nodiscard]] virtual std::uint64_t skipped() const noexcept = 0;
};

}  // namespace weir::ports
