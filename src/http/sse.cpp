#include "http/sse.h"

#include "base/sixteen.h"
#include "http/free_memory.h"
#include "http/padding.h"

#include <bit>
#include <cassert>
#include <utility>

namespace weir::http {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Where the line after the line ending at `end` begins: CRLF is one ending.
std::size_t past_line_ending(std::string_view bytes, std::size_t end) noexcept {
    const bool with_line_feed = bytes[end] == '\r' && bytes.substr(end + 1).starts_with('\n');
    return end + (with_line_feed ? 2 : 1);
}

// The first CR or LF at or behind `from`, or npos.
std::size_t find_line_end(std::string_view bytes, std::size_t from) noexcept {
    const auto ends = [](auto byte) { return (byte == '\r') | (byte == '\n'); };
    std::size_t at = from;
    for (; bytes.size() - at >= 16; at += 16) {
        const auto found = base::which(ends(base::load_sixteen(bytes.data() + at)));
        if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
    }
    for (; at < bytes.size(); ++at)
        if (ends(bytes[at])) return at;
    return std::string_view::npos;
}

}  // namespace

EventScanner::EventScanner(std::size_t max_tail_bytes) : max_tail_bytes_{max_tail_bytes} {}

void EventScanner::drop_taken() noexcept {
    if (!tail_is_event_) free_memory(completed_);
    free_memory(joined_);
}

base::Status EventScanner::feed(std::string_view bytes) {
    drop_taken();
    bytes_ = bytes;
    position_ = 0;
    if (tail_.empty()) return {};
    const auto end = find_end_of_tail(bytes);
    const auto more = bytes.substr(0, end);
    if (tail_.size() + more.size() > max_tail_bytes_) {
        return base::fail(base::ErrorCode::too_large, "an event of the stream is longer than the limit");
    }
    tail_.append(more);
    position_ = more.size();
    if (end != std::string_view::npos) complete_tail();
    return {};
}

void EventScanner::complete_tail() {
    tail_is_event_ = true;
    tail_.reserve(tail_.size() + padding_bytes);
    completed_ = std::exchange(tail_, std::string{});
}

std::optional<Event> EventScanner::next() {
    if (std::exchange(tail_is_event_, false)) return hand_out(scan(completed_, 0).event);
    if (position_ == bytes_.size()) return std::nullopt;
    const Scan found = scan(bytes_, position_);
    if (!found.complete) {
        tail_.assign(bytes_.substr(position_));
        position_ = bytes_.size();
        return std::nullopt;
    }
    position_ += found.event.raw.size();
    return hand_out(found.event);
}

std::optional<Event> EventScanner::finish() {
    if (tail_.empty()) return std::nullopt;
    complete_tail();
    return next();
}

void EventScanner::skip(std::size_t event_bytes) noexcept {
    assert(event_bytes <= upcoming().size());
    at_start_ = event_after_return_ = false;
    if (!std::exchange(tail_is_event_, false)) position_ += event_bytes;
}

Event EventScanner::hand_out(const Event& event) noexcept {
    at_start_ = false;
    event_after_return_ = event.raw.ends_with('\r');
    return event;
}

std::optional<Event> EventScanner::plain_event(std::string_view bytes, std::size_t from) noexcept {
    constexpr std::string_view opening = "data: ";
    if (!bytes.substr(from).starts_with(opening)) return std::nullopt;
    const auto data_at = from + opening.size();
    const auto end = find_line_end(bytes, data_at);
    if (end == std::string_view::npos || !bytes.substr(end).starts_with("\n\n")) return std::nullopt;
    return Event{.raw = bytes.substr(from, end + 2 - from),
                 .name = {},
                 .data = bytes.substr(data_at, end - data_at),
                 .has_data = true,
                 .data_in_raw = true};
}

EventScanner::Scan EventScanner::scan(std::string_view bytes, std::size_t from) {
    if (const auto plain = plain_event(bytes, from)) return {.event = *plain, .complete = true};
    Scan found{.event = {.raw = bytes.substr(from), .name = {}, .data = {}}};
    std::size_t data_lines = 0;
    std::size_t line_at = from;
    if (event_after_return_ && bytes.substr(from).starts_with('\n')) ++line_at;
    const bool marked = at_start_ && bytes.substr(line_at).starts_with(byte_order_mark);
    std::size_t text_at = line_at + (marked ? byte_order_mark.size() : 0);
    while (!found.complete) {
        const auto end = find_line_end(bytes, text_at);
        if (end == std::string_view::npos) break;
        found.complete = end == line_at;
        if (!found.complete) add_line(found.event, bytes.substr(text_at, end - text_at), data_lines);
        line_at = text_at = past_line_ending(bytes, end);
    }
    if (found.complete) {
        found.event.raw = bytes.substr(from, line_at - from);
    } else {
        tail_line_empty_ = line_at == bytes.size();
        tail_after_return_ = tail_line_empty_ && bytes.ends_with('\r');
        if (!tail_line_empty_) add_line(found.event, bytes.substr(text_at), data_lines);
    }
    if (data_lines > 1) {
        joined_.reserve(joined_.size() + padding_bytes);
        found.event.data = joined_;
    }
    return found;
}

void EventScanner::add_line(Event& event, std::string_view line, std::size_t& data_lines) {
    const auto colon = line.find(':');
    const auto field = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? line.substr(line.size()) : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") event.name = value;
    if (field != "data") return;
    event.has_data = true;
    event.data_in_raw = ++data_lines == 1;
    if (data_lines == 1) event.data = value;
    if (data_lines == 2) joined_.assign(event.data);
    if (data_lines > 1) joined_.append(1, '\n').append(value);
}

std::size_t EventScanner::find_end_of_tail(std::string_view bytes) noexcept {
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (std::exchange(tail_after_return_, false) && bytes[at] == '\n') {
            ++at;
            continue;
        }
        const auto end = find_line_end(bytes, at);
        if (end == std::string_view::npos) {
            tail_line_empty_ = false;
            break;
        }
        const bool blank = tail_line_empty_ && end == at;
        at = past_line_ending(bytes, end);
        tail_line_empty_ = true;
        tail_after_return_ = at == bytes.size() && bytes[end] == '\r' && end + 1 == at;
        if (blank) return at;
    }
    return std::string_view::npos;
}

}  // namespace weir::http
