#include "gateway/stream_relay.h"

#include "http/ascii.h"

#include <algorithm>

namespace weir::gateway {

namespace {

// A rough token size in bytes of text, for estimates that say that they are estimates.
constexpr std::size_t bytes_per_token = 4;

}  // namespace

StreamRelay::StreamRelay(AnswerReader& reader, const RelayPolicy& policy)
    : reader_{reader}, policy_{policy}, scanner_{policy.max_event_bytes} {
    policy_.answer.wants_only_string = true;
}

RelayVerdict StreamRelay::feed(std::string_view bytes) {
    slices_.clear();
    owned_.clear();
    progressed_ = fed_output_ = fed_visible_ = false;
    if (failed_) return RelayVerdict::failed;
    if (const auto fed = scanner_.feed(bytes); !fed) return RelayVerdict::protocol;
    return drain();
}

RelayVerdict StreamRelay::end() {
    slices_.clear();
    owned_.clear();
    progressed_ = fed_output_ = fed_visible_ = false;
    if (failed_) return RelayVerdict::failed;
    if (done_) return RelayVerdict::complete;
    const auto rest = scanner_.finish();
    if (!rest || !rest->has_data) return complete() ? RelayVerdict::complete : RelayVerdict::more;
    const auto verdict = take(*rest);
    // The engine forgot the blank line; without it the client's parser would wait for ever.
    if (!slices_.empty()) slices_.push_back("\n\n");
    return verdict;
}

bool StreamRelay::complete() const noexcept {
    if (done_) return true;
    return choices_.complete(policy_.choices);
}

RelayVerdict StreamRelay::drain() {
    while (!done_) {
        if (take_repeated()) continue;
        const auto event = scanner_.next();
        if (!event) break;
        if (const auto verdict = take(*event); verdict == RelayVerdict::failed || verdict == RelayVerdict::protocol)
            return verdict;
    }
    return complete() ? RelayVerdict::complete : RelayVerdict::more;
}

RelayVerdict StreamRelay::take(const http::Event& event) {
    if (!event.has_data) {
        take_comment(event);
        return RelayVerdict::more;
    }
    progressed_ = true;
    if (event.data != "[DONE]") return take_data(event);
    done_ = true;
    commit();
    emit(event, {});
    return RelayVerdict::complete;
}

void StreamRelay::take_comment(const http::Event& event) {
    // A flood of comments must not fill memory: what does not fit is dropped, comments carry nothing.
    if (!committed_ && held_.size() + event.raw.size() > policy_.max_held_bytes) return;
    emit(event, {});
}

RelayVerdict StreamRelay::take_data(const http::Event& event) {
    const Answer& answer = reader_.read(event.data, policy_.answer);
    if (!answer.is_object) return RelayVerdict::protocol;
    if (answer.has_error) {
        failed_ = true;
        engine_error_.assign(event.data);
        return RelayVerdict::failed;
    }
    learn_shape(event, answer);
    note(answer);
    if (answer.usage_only && policy_.hide_usage_event) return RelayVerdict::more;
    if (answer.carries_output || complete() || held_.size() + event.raw.size() > policy_.max_held_bytes) commit();
    emit(event, answer.edits);
    return complete() ? RelayVerdict::complete : RelayVerdict::more;
}

// What has a string as its only output carries output: it commits.
bool StreamRelay::take_repeated() {
    const auto upcoming = scanner_.upcoming();
    const auto string_bytes = shape_.match(upcoming);
    if (!string_bytes) return false;
    const std::size_t shift = *string_bytes - repeated_.output_bytes;  // modulo 2^64, so that it also shrinks
    for (Edit& edit : repeated_.edits) {
        if (edit.begin <= shape_.varying().begin) continue;
        edit.begin += shift;
        edit.end += shift;
    }
    repeated_.output_bytes = *string_bytes;
    const std::size_t event_bytes = shape_.event_bytes(*string_bytes);
    scanner_.skip(event_bytes);
    progressed_ = true;
    note(repeated_);
    commit();
    splice(upcoming.substr(0, event_bytes), repeated_.edits, 0, slices_);
    return true;
}

void StreamRelay::learn_shape(const http::Event& event, const Answer& answer) {
    if (!answer.only_string || answer.token_ids || !event.data_in_raw) return;
    // What the scanner's skip() asks for: an event that ends and begins without doubt.
    const bool plain = event.raw.ends_with('\n') && http::is_token_char(event.raw.front());
    if (!plain) return;
    const auto offset = static_cast<std::size_t>(event.data.data() - event.raw.data());
    shape_.learn(event.raw, {answer.only_string->begin + offset, answer.only_string->end + offset});
    repeated_ = answer;
    for (Edit& edit : repeated_.edits) {
        edit.begin += offset;
        edit.end += offset;
    }
}

void StreamRelay::note(const Answer& answer) {
    choices_.note(answer);
    if (!answer.finish_reason.empty()) finish_reason_ = answer.finish_reason;
    usage_.update(answer.usage);
    if (answer.speculation.known()) speculation_ = answer.speculation;
    if (!answer.carries_output) return;
    if (++output_events_ == 1)
        first_event_tokens_ = answer.token_ids ? answer.token_ids : answer.usage.completion_tokens;
    estimated_tokens_ += policy_.event_is_token
                             ? 1
                             : std::max<std::size_t>(1, (answer.output_bytes + bytes_per_token / 2) / bytes_per_token);
    fed_output_ = true;
    fed_visible_ = fed_visible_ || answer.visible_output;
}

void StreamRelay::commit() {
    if (committed_) return;
    committed_ = true;
    if (held_.empty()) return;
    owned_.push_back(std::move(held_));
    held_.clear();
    slices_.push_back(owned_.back());
}

void StreamRelay::emit(const http::Event& event, std::span<const Edit> edits) {
    const std::size_t first = slices_.size();
    if (event.data_in_raw || edits.empty()) {
        const auto offset = event.data_in_raw ? static_cast<std::size_t>(event.data.data() - event.raw.data()) : 0;
        splice(event.raw, edits, offset, slices_);
    } else {
        // Data over several lines: rare, and rewritten as lines again.
        std::vector<std::string_view> parts;
        splice(event.data, edits, 0, parts);
        std::string rewritten = "data: ";
        for (const char c : joined(parts)) {
            rewritten += c;
            if (c == '\n') rewritten += "data: ";
        }
        owned_.push_back(std::move(rewritten) + "\n\n");
        slices_.push_back(owned_.back());
    }
    if (committed_) return;
    for (std::size_t i = first; i < slices_.size(); ++i)
        held_ += slices_[i];
    slices_.resize(first);
}

}  // namespace weir::gateway
