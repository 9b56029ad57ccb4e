#include "http/sse.h"

#include "http/free_memory.h"

#include <utility>

namespace weir::http {
namespace {

constexpr std::size_t padding_bytes = 64;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Finds line endings one after another. It keeps the place of the next LF, so that a stream of CR lines is not
// searched to its end for each of them.
class LineEnds {
public:
    explicit LineEnds(std::string_view bytes) noexcept : bytes_{bytes} {}
    // The first CR or LF at or behind `from`, or npos.
    [[nodiscard]] std::size_t next(std::size_t from) noexcept {
        if (!searched_ || (line_feed_ != std::string_view::npos && line_feed_ < from)) {
            line_feed_ = bytes_.find('\n', from);
            searched_ = true;
        }
        const auto before_line_feed = bytes_.substr(0, line_feed_);
        const auto carriage_return = before_line_feed.find('\r', from);
        return carriage_return != std::string_view::npos ? carriage_return : line_feed_;
    }

private:
    std::string_view bytes_;
    std::size_t line_feed_ = 0;
    bool searched_ = false;
};

// "field: value" without the one blank that may follow the colon.
struct Line {
    std::string_view field;
    std::string_view value;
};

Line split_line(std::string_view line) noexcept {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return {.field = line, .value = line.substr(line.size())};
    auto value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    return {.field = line.substr(0, colon), .value = value};
}

}  // namespace

EventScanner::EventScanner(std::size_t max_tail_bytes) : max_tail_bytes_{max_tail_bytes} {}

base::Status EventScanner::feed(std::string_view bytes) {
    free_memory(completed_);
    input_ = bytes;
    if (tail_.empty() || tail_is_event_) return {};
    const auto end = find_end(input_);
    const auto more = input_.substr(0, end);
    if (tail_.size() + more.size() > max_tail_bytes_) {
        return base::fail(base::ErrorCode::too_large, "an event of the stream is longer than the limit");
    }
    tail_.append(more);
    input_.remove_prefix(more.size());
    tail_is_event_ = end != std::string_view::npos;
    return {};
}

std::optional<Event> EventScanner::next() {
    if (tail_is_event_) {
        tail_is_event_ = false;
        tail_.reserve(tail_.size() + padding_bytes);
        completed_ = std::exchange(tail_, std::string{});
        return parse(completed_);
    }
    if (input_.empty()) return std::nullopt;
    const auto end = find_end(input_);
    if (end == std::string_view::npos) {
        tail_.assign(input_);
        input_ = {};
        return std::nullopt;
    }
    const auto raw = input_.substr(0, end);
    input_.remove_prefix(end);
    return parse(raw);
}

std::optional<Event> EventScanner::finish() {
    if (tail_.empty()) return std::nullopt;
    tail_is_event_ = true;
    return next();
}

std::size_t EventScanner::find_end(std::string_view bytes) noexcept {
    LineEnds ends{bytes};
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (std::exchange(after_return_, false) && bytes[at] == '\n') {
            ++at;
            continue;
        }
        const auto end = ends.next(at);
        if (end == std::string_view::npos) {
            line_empty_ = false;
            break;
        }
        const bool blank = line_empty_ && end == at;
        after_return_ = bytes[end] == '\r';
        line_empty_ = true;
        at = end + 1;
        if (!blank) continue;
        if (after_return_ && at < bytes.size() && bytes[at] == '\n') {
            after_return_ = false;
            ++at;
        }
        return at;
    }
    return std::string_view::npos;
}

Event EventScanner::parse(std::string_view raw) {
    Event event{.raw = raw, .name = {}, .data = {}};
    auto text = raw;
    if (std::exchange(at_start_, false) && text.starts_with(byte_order_mark))
        text.remove_prefix(byte_order_mark.size());
    std::size_t data_lines = 0;
    LineEnds ends{text};
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(ends.next(at), text.size());
        const auto line = split_line(text.substr(at, end - at));
        at = end + 1;
        if (line.field == "event") event.name = line.value;
        if (line.field != "data") continue;
        if (++data_lines == 1) {
            event.data = line.value;
            continue;
        }
        if (data_lines == 2) joined_.assign(event.data);
        joined_.append(1, '\n').append(line.value);
    }
    event.has_data = data_lines > 0;
    event.data_in_raw = data_lines == 1;
    if (data_lines > 1) {
        joined_.reserve(joined_.size() + padding_bytes);
        event.data = joined_;
    }
    return event;
}

}  // namespace weir::http
