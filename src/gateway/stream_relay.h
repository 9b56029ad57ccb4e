// StreamRelay: what a streamed answer becomes on its way to the client. Bytes in, slices out; sans-I/O.
// Invariant: only complete events leave, in order; before the commit nothing leaves (it is held, bounded), so another
// replica may still answer; after an engine's error nothing of its later bytes leaves. Source: architecture.md,
// "Commit". Units: bytes, tokens. One for each attempt; the scratch is the worker's.
#pragma once

#include "gateway/answer.h"
#include "gateway/choice_tally.h"
#include "gateway/event_shape.h"
#include "http/sse.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::gateway {

struct RelayPolicy {
    AnswerPolicy answer;
    bool hide_usage_event = false;   // Weir asked for it, the client did not
    std::uint64_t choices = 1;        // asked for: all of them must finish
    bool event_is_token = false;     // the engine sends one event for each token (llama.cpp)
    std::size_t max_held_bytes = 64 * 1024;      // before the commit
    std::size_t max_event_bytes = 1024 * 1024;   // a longer one is a protocol fault
};

// What the streams of one worker share. No stream has anything in it when it waits.
struct RelayScratch {
    AnswerReader reader;
    Slices slices;
    std::list<std::string> owned;  // what slices view and no event holds; a list keeps the views valid
};

enum class RelayVerdict : std::uint8_t {
    more,      // send what slices() has, then read on
    complete,  // the protocol's terminal was seen: send, read on for what may follow (usage, [DONE])
    failed,    // the engine sent an error event: engine_error() has it
    protocol,  // not a stream of events with JSON objects
};

class StreamRelay {
public:
    // `scratch` outlives it.
    StreamRelay(RelayScratch& scratch, const RelayPolicy& policy);

    // The next decoded bytes; 64 readable bytes follow them. slices() is new after each call.
    [[nodiscard]] RelayVerdict feed(std::string_view bytes);
    // The upstream's body has ended: `complete`, or `more` when the stream is truncated.
    [[nodiscard]] RelayVerdict end();

    // What goes to the client now; views live until the next feed() or end() of any stream of the worker, so not beyond
    // the caller's next suspension.
    [[nodiscard]] const Slices& slices() const noexcept { return scratch_.slices; }
    // Frees what slices() view: the stream is going to wait.
    void drop_slices() noexcept { scanner_.drop_taken(); }
    [[nodiscard]] bool committed() const noexcept { return committed_; }
    [[nodiscard]] bool complete() const noexcept;
    // [DONE] was seen: nothing more can come.
    [[nodiscard]] bool done() const noexcept { return done_; }
    // True when the last feed() brought data events, that is: progress (comments are not).
    [[nodiscard]] bool progressed() const noexcept { return progressed_; }
    [[nodiscard]] bool fed_output() const noexcept { return fed_output_; }
    [[nodiscard]] bool fed_visible() const noexcept { return fed_visible_; }

    [[nodiscard]] const Usage& usage() const noexcept { return told().usage; }
    [[nodiscard]] const SpeculationUsage& speculation() const noexcept { return told().speculation; }
    [[nodiscard]] const std::string& finish_reason() const noexcept { return told().finish_reason; }
    [[nodiscard]] std::uint64_t output_events() const noexcept { return output_events_; }
    // Tokens of the events so far: counted where an event is a token, else estimated from bytes.
    [[nodiscard]] std::uint64_t estimated_tokens() const noexcept { return estimated_tokens_; }
    // Of the first event with output, where the engine tells: by its usage, or by ids of tokens.
    [[nodiscard]] std::optional<std::uint64_t> first_event_tokens() const noexcept { return first_event_tokens_; }
    [[nodiscard]] const std::string& engine_error() const noexcept { return told().engine_error; }

private:
    // What most streams tell at their end only.
    struct Told {
        Usage usage;
        SpeculationUsage speculation;
        std::string finish_reason;
        std::string engine_error;
    };

    void begin_feed() noexcept;
    RelayVerdict drain();
    RelayVerdict take(const http::Event& event);
    RelayVerdict take_data(const http::Event& event);
    // Takes an event that has the known shape, without reading it; false when the next one has not.
    bool take_repeated();
    void learn_shape(const http::Event& event, const Answer& answer);
    void take_comment(const http::Event& event);
    void emit(const http::Event& event, std::span<const Edit> edits);
    void commit();
    void note(const Answer& answer);
    void note_told(const Answer& answer);
    void note_output(std::size_t output_bytes, bool visible);
    [[nodiscard]] const Told& told() const noexcept;
    [[nodiscard]] Told& make_told();

    RelayScratch& scratch_;
    RelayPolicy policy_;
    http::EventScanner scanner_;
    std::string held_;
    EventShape shape_;
    // What was read of the event that has the shape; the edits count from the event's beginning.
    std::vector<Edit> repeated_edits_;
    std::size_t repeated_bytes_ = 0;
    bool repeated_visible_ = false;
    bool committed_ = false;
    bool done_ = false;
    bool failed_ = false;
    bool progressed_ = false;
    bool fed_output_ = false;
    bool fed_visible_ = false;
    ChoiceTally choices_;
    std::uint64_t output_events_ = 0;
    std::uint64_t estimated_tokens_ = 0;
    std::optional<std::uint64_t> first_event_tokens_;
    std::unique_ptr<Told> told_;
};

}  // namespace weir::gateway
