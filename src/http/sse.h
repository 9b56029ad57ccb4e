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
    // Where next() would begin to read, for a caller that knows the event when it sees it: skip() takes its bytes,
    // which are a whole event, without a CR or LF or byte order mark in front and with an LF at their end.
    [[nodiscard]] std::string_view upcoming() const noexcept {
        return tail_is_event_ ? std::string_view{completed_} : bytes_.substr(position_);
    }
    void skip(std::size_t event_bytes) noexcept;
    // The rest at the end of the stream, if it has any: an event that lacks its blank line.
    [[nodiscard]] std::optional<Event> finish();
    // Frees what the views of events are of, when that is the scanner's own memory. For a caller that waits: without it
    // this happens in the next feed().
    void drop_taken() noexcept;
    [[nodiscard]] std::size_t held_bytes() const noexcept { return tail_.size() + completed_.size() + joined_.size(); }

private:
    // One event from `from` on, as far as it is there.
    struct Scan {
        Event event;
        bool complete = false;
    };
    [[nodiscard]] Scan scan(std::string_view bytes, std::size_t from);
    // The common event, one "data: " line and a blank one in LF, if it stands there; anything else is left to scan().
    [[nodiscard]] static std::optional<Event> plain_event(std::string_view bytes, std::size_t from) noexcept;
    void add_line(Event& event, std::string_view line, std::size_t& data_lines);
    // tail_ is an event, or the last one: next() hands it out.
    void complete_tail();
    // Just past the blank line that ends the event in tail_, or npos; goes on where the last call stopped.
    [[nodiscard]] std::size_t find_end_of_tail(std::string_view bytes) noexcept;
    [[nodiscard]] Event hand_out(const Event& event) noexcept;

    std::string tail_;  // an incomplete event
    std::string completed_;  // an event that arrived in pieces, while its views are valid
    std::string joined_;  // data of several lines
    std::string_view bytes_;  // of the last feed()
    std::size_t position_ = 0;  // in bytes_: what was handed out or moved to tail_
    std::size_t max_tail_bytes_;
    bool tail_is_event_ = false;  // completed_ is to be handed out
    bool tail_line_empty_ = true;  // the last line of tail_ has no byte yet
    bool tail_after_return_ = false;  // the last byte of tail_ is a CR: an LF now belongs to it
    bool event_after_return_ = false;  // the same for the event that was handed out last
    bool at_start_ = true;  // no event was handed out yet: a byte order mark may come
};

}  // namespace weir::http
