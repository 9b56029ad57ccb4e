// make_secret: the text of a new key: "weir_", 43 characters of [0-9A-Za-z] that are 256 bits, and 6 that are a
// checksum of all before, so that scanners for leaked secrets can tell a key from noise. 54 bytes: one block of
// SHA-256.
#pragma once

#include "base/sha256.h"

#include <cstdint>
#include <span>
#include <string>

namespace weir::auth {

// `random` comes from base::fill_secure(). Pure.
[[nodiscard]] std::string make_secret(std::span<const std::uint8_t, 32> random);

}  // namespace weir::auth
