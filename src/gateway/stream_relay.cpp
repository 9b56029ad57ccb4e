#include "gateway/stream_relay.h"

#include "http/ascii.h"

#include <algorithm>

namespace weir::gateway {

namespace {

// A rough token size in bytes of text, for estimates that say that they are estimates.
constexpr std::size_t bytes_per_token = 4;

// Whether an event tells nothing but its one string, so that of one like it only that string need be read.
bool is_plain_output(const Answer& answer) noexcept {
    const bool ends = answer.finished_choices != 0 || !answer.finish_reason.empty() ||
                      std::ranges::any_of(answer.far_choices, &ChoiceMark::finished);
    const bool tells = answer.usage.any() || answer.speculation.known() || answer.token_ids.has_value();
    return answer.only_string && !ends && !tells;
}

}  // namespace

StreamRelay::StreamRelay(RelayScratch& scratch, const RelayPolicy& policy)
    : scratch_{scratch}, policy_{policy}, scanner_{policy.max_event_bytes} {
    policy_.answer.wants_only_string = true;
}

void StreamRelay::begin_feed() noexcept {
    scratch_.slices.clear();
    scratch_.owned.clear();
    progressed_ = fed_output_ = fed_visible_ = false;
}

RelayVerdict StreamRelay::feed(std::string_view bytes) {
    begin_feed();
    if (failed_) return RelayVerdict::failed;
    if (const auto fed = scanner_.feed(bytes); !fed) return RelayVerdict::protocol;
    return drain();
}

RelayVerdict StreamRelay::end() {
    begin_feed();
    if (failed_) return RelayVerdict::failed;
    if (done_) return RelayVerdict::complete;
    const auto rest = scanner_.finish();
    if (!rest || !rest->has_data) return complete() ? RelayVerdict::complete : RelayVerdict::more;
    const auto verdict = take(*rest);
    // The engine forgot the blank line; without it the client's parser would wait for ever.
    if (!scratch_.slices.empty()) scratch_.slices.push_back("\n\n");
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
    const Answer& answer = scratch_.reader.read(event.data, policy_.answer);
    if (!answer.is_object) return RelayVerdict::protocol;
    if (answer.has_error) {
        failed_ = true;
        make_told().engine_error.assign(event.data);
        return RelayVerdict::failed;
    }
    learn_shape(event, answer);
    note(answer);
    if (answer.usage_only && policy_.hide_usage_event) return RelayVerdict::more;
    if (answer.carries_output || complete() || held_.size() + event.raw.size() > policy_.max_held_bytes) commit();
    emit(event, answer.edits);
    return complete() ? RelayVerdict::complete : RelayVerdict::more;
}

// What has a string as its only output carries output: it commits. What it says of its choices is known.
bool StreamRelay::take_repeated() {
    const auto upcoming = scanner_.upcoming();
    const auto string_bytes = shape_.match(upcoming);
    if (!string_bytes) return false;
    const std::size_t shift = *string_bytes - repeated_bytes_;  // modulo 2^64, so that it also shrinks
    for (Edit& edit : repeated_edits_) {
        if (edit.begin <= shape_.varying().begin) continue;
        edit.begin += shift;
        edit.end += shift;
    }
    repeated_bytes_ = *string_bytes;
    const std::size_t event_bytes = shape_.event_bytes(*string_bytes);
    scanner_.skip(event_bytes);
    progressed_ = true;
    note_output(*string_bytes, repeated_visible_);
    commit();
    splice(upcoming.substr(0, event_bytes), repeated_edits_, 0, scratch_.slices);
    return true;
}

void StreamRelay::learn_shape(const http::Event& event, const Answer& answer) {
    if (!is_plain_output(answer) || !event.data_in_raw) return;
    // What the scanner's skip() asks for: an event that ends and begins without doubt.
    const bool plain = event.raw.ends_with('\n') && http::is_token_char(event.raw.front());
    if (!plain) return;
    const auto offset = static_cast<std::size_t>(event.data.data() - event.raw.data());
    shape_.learn(event.raw, {answer.only_string->begin + offset, answer.only_string->end + offset});
    repeated_bytes_ = answer.output_bytes;
    repeated_visible_ = answer.visible_output;
    repeated_edits_ = answer.edits;
    for (Edit& edit : repeated_edits_) {
        edit.begin += offset;
        edit.end += offset;
    }
}

void StreamRelay::note(const Answer& answer) {
    choices_.note(answer);
    note_told(answer);
    if (!answer.carries_output) return;
    if (output_events_ == 0) first_event_tokens_ = answer.token_ids ? answer.token_ids : answer.usage.completion_tokens;
    note_output(answer.output_bytes, answer.visible_output);
}

void StreamRelay::note_output(std::size_t output_bytes, bool visible) {
    ++output_events_;
    estimated_tokens_ +=
        policy_.event_is_token ? 1 : std::max<std::size_t>(1, (output_bytes + bytes_per_token / 2) / bytes_per_token);
    fed_output_ = true;
    fed_visible_ = fed_visible_ || visible;
}

void StreamRelay::note_told(const Answer& answer) {
    if (answer.finish_reason.empty() && !answer.usage.any() && !answer.speculation.known()) return;
    Told& told = make_told();
    if (!answer.finish_reason.empty()) told.finish_reason = answer.finish_reason;
    told.usage.update(answer.usage);
    if (answer.speculation.known()) told.speculation = answer.speculation;
}

const StreamRelay::Told& StreamRelay::told() const noexcept {
    static const Told nothing;
    return told_ ? *told_ : nothing;
}

StreamRelay::Told& StreamRelay::make_told() {
    if (!told_) told_ = std::make_unique<Told>();
    return *told_;
}

void StreamRelay::commit() {
    if (committed_) return;
    committed_ = true;
    if (held_.empty()) return;
    scratch_.owned.push_back(std::move(held_));
    held_.clear();
    scratch_.slices.push_back(scratch_.owned.back());
}

void StreamRelay::emit(const http::Event& event, std::span<const Edit> edits) {
    auto& slices = scratch_.slices;
    const std::size_t first = slices.size();
    if (event.data_in_raw || edits.empty()) {
        const auto offset = event.data_in_raw ? static_cast<std::size_t>(event.data.data() - event.raw.data()) : 0;
        splice(event.raw, edits, offset, slices);
    } else {
        // Data over several lines: rare, and rewritten as lines again.
        Slices parts;
        splice(event.data, edits, 0, parts);
        std::string rewritten = "data: ";
        for (const char c : joined(parts)) {
            rewritten += c;
            if (c == '\n') rewritten += "data: ";
        }
        scratch_.owned.push_back(std::move(rewritten) + "\n\n");
        slices.push_back(scratch_.owned.back());
    }
    if (committed_) return;
    for (std::size_t i = first; i < slices.size(); ++i)
        held_ += slices[i];
    slices.resize(first);
}

}  // namespace weir::gateway
