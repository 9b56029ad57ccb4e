// KeyRequest: what `weir key create` was asked for, checked: names, times, permissions, and against the configuration.
// Pure: decides and says why not.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "cli/key_command.h"
#include "config/config.h"
#include "ports/key_store.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

// A date is the last day on which a key works, in UTC; a duration counts from now. The first moment at which it no
// longer works, in whole seconds. Errors: invalid_argument (not a time, already over, after the year 2099).
[[nodiscard]] base::Result<base::WallTime> parse_expiry(std::string_view text, base::WallTime now);

// Until when the old secrets of a rotated key work: a duration from now, at most 366d; 0s is at once.
[[nodiscard]] base::Result<base::WallTime> parse_grace(std::string_view text, base::WallTime now);

// Without id and digest. Errors: invalid_argument, with the option at fault.
[[nodiscard]] base::Result<ports::NewKey> new_key_of(const KeyOptions& options, base::WallTime now);

// "" = the configuration knows tenant, team and application, and has no key of that name; else what is wrong.
[[nodiscard]] std::string fault_in(const ports::NewKey& key, const config::Config& config);

// Whether a text is an id as `weir key` makes them: "k_" and 16 hexadecimal digits.
[[nodiscard]] bool is_key_id(std::string_view text) noexcept;

// Which of the keys of one name, in the order of find(), is meant: a living one before an expired one before a revoked
// one, of one tenant the newest. Errors: not_found (there is none), invalid_argument (keys of several tenants could be
// meant).
[[nodiscard]] base::Result<ports::StoredKey> pick_key(std::span<const ports::StoredKey> candidates, base::WallTime now);

}  // namespace weir::cli
