// KeyReport: keys as people and programs read them. Pure.
#pragma once

#include "base/json_writer.h"
#include "base/time.h"
#include "ports/key_store.h"

#include <span>
#include <string>

namespace weir::cli {

// Every known member of a key; what it does not have is absent.
void write_key_members(base::JsonWriter& json, const ports::StoredKey& key, base::WallTime now);

// A heading and a line for each.
[[nodiscard]] std::string key_table(std::span<const ports::StoredKey> keys, base::WallTime now);

[[nodiscard]] std::string_view name_of(ports::KeyState state) noexcept;
// "2027-06-30T12:00:00Z".
[[nodiscard]] std::string text_of(base::WallTime time);

}  // namespace weir::cli
