// EventScanner: cuts a byte stream into complete server-sent events, whatever the reads and line endings
// (LF, CRLF, CR, mixed; `data:` with or without a blank). Bytes are never changed. Sans-I/O.
// At least 64 readable bytes follow each view of an event (simdjson).
#pragma once

#include "base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::http {

struct Event {
    std::string_view raw;   // all bytes, the blank line that ends it included; valid until the next feed()
    std::string_view name;  // of the last `event:` line, "" when none; a sub-view of raw
    // The value of its `data:` line, a sub-view of raw; several lines are joined by LF, and that view is valid
    // only until the next next().
    std::string_view data;
    bool has_data = false;  // false: only comments or other fields
    bool data_in_raw = false;  // data is a sub-view of raw (one data line)
};

class EventScanner {
public:
    explicit EventScanner(std::size_t max_tail_bytes = 1024 * 1024);
    // Gives the scanner the next bytes; the view must stay valid until the events were taken with next(),
    // and be followed by 64 readable bytes. Take all events before the next feed().
    // Errors: too_large (an incomplete event grew over the limit; the scanner is of no use afterwards).
    [[nodiscard]] base::Status feed(std::string_view bytes);
    // The next complete event, or nullopt when more bytes are needed; an incomplete tail is then kept (copied).
    // An event that ends in a CR is complete at once; if an LF follows, it opens the raw of the next event.
    [[nodiscard]] std::optional<Event> next();
    // The rest at the end of the stream, if it has any: an event that lacks its blank line.
    [[nodiscard]] std::optional<Event> finish();
    [[nodiscard]] std::size_t held_bytes() const noexcept { return tail_.size(); }

private:
    // Just past the blank line that ends the present event, or npos; goes on where the last call stopped.
    [[nodiscard]] std::size_t find_end(std::string_view bytes) noexcept;
    [[nodiscard]] Event parse(std::string_view raw);

    std::string tail_;          // an incomplete event
    std::string completed_;     // an event that arrived in pieces, while its views are valid
    std::string joined_;        // data of several lines
    std::string_view input_;
    std::size_t max_tail_bytes_;
    bool tail_is_event_ = false;  // tail_ is complete, next() hands it out
    bool line_empty_ = true;      // the present line has no byte yet
    bool after_return_ = false;   // the last byte was a CR: an LF now belongs to it
    bool at_start_ = true;        // no event was handed out yet: a byte order mark may come
};

}  // namespace weir::http
