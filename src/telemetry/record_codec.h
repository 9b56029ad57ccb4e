// RecordCodec: a RequestRecord as compact bytes and back, for the spool. Encoding allocates nothing and writes where it
// is told; decoding is total: any bytes give a record or `false`. Texts are cut at the bounds of the table of fields,
// lists at the room there is (the record then says so, decision.cut). Pure.
// The bytes are kept on disk between two processes: the order of the fields and the numbers of enumerators are part of
// the format, and another order is another record_codec_version.
#pragma once

#include "model/record.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::telemetry {

inline constexpr std::uint16_t record_codec_version = 1;

// No record is larger, whatever is in it; nor, without its lists, larger than max_scalar_bytes.
inline constexpr std::size_t max_record_bytes = 4000;
inline constexpr std::size_t max_scalar_bytes = 2304;
// By how much a record may grow, without its lists, from what is known at authentication to its end.
inline constexpr std::size_t record_growth_bytes = 1152;

// `out` has room for the record without its lists; they get what is left. Returns how many bytes were written.
[[nodiscard]] std::size_t encode_record(const model::RequestRecord& record, std::span<std::byte> out) noexcept;

// Replaces `record`, whose views are then of `bytes` (its vectors keep their memory); false = these bytes are no
// record, and `record` is unspecified.
[[nodiscard]] bool decode_record(std::span<const std::byte> bytes, model::RequestRecord& record);

}  // namespace weir::telemetry
