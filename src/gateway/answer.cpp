#include "gateway/answer.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace weir::gateway {

namespace {

namespace json = simdjson::ondemand;
using Type = json::json_type;

constexpr std::size_t most_kept_bytes = 1024 * 1024;

// More tokens than there can be are an engine's underflow, and would spoil every sum they enter. Beyond this a double,
// which metrics are, does not count by ones either.
constexpr std::uint64_t most_tokens = std::uint64_t{1} << 53U;

void take(std::optional<std::uint64_t>& into, json::value value) {
    std::uint64_t number = 0;
    if (!value.get_uint64().get(number) && number <= most_tokens) into = number;
}

// A root member of the answer.
struct Member {
    std::size_t begin = 0;  // of its key
    bool cut = false;
};

std::string_view trimmed(std::string_view token) {
    const auto last = token.find_last_not_of(" \t\r\n");
    return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Calls `visit(name, value)` for each member; stops quietly where the JSON breaks.
template <class Visit>
bool for_each_member(json::value value, Visit visit) {
    json::object object;
    if (value.get_object().get(object)) return false;
    for (auto element : object) {
        json::field field;
        std::string_view name;
        if (std::move(element).get(field) || field.unescaped_key().get(name)) return false;
        visit(name, field.value());
    }
    return true;
}

}  // namespace

void Usage::update(const Usage& newer) noexcept {
    const auto keep_last = [](auto& into, const auto& from) {
        if (from) into = from;
    };
    keep_last(prompt_tokens, newer.prompt_tokens);
    keep_last(completion_tokens, newer.completion_tokens);
    keep_last(cached_tokens, newer.cached_tokens);
    keep_last(reasoning_tokens, newer.reasoning_tokens);
}

struct AnswerReader::State {
    json::parser parser;
    std::string_view text;  // being read
    bool wants_only_string = false;
    Answer answer;
    std::vector<Member> members;

    // Returns false for null and anything else that is not an object.
    bool read_usage(json::value value) {
        auto& usage = answer.usage;
        return for_each_member(value, [&usage](std::string_view name, json::value inner) {
            if (name == "prompt_tokens")
                take(usage.prompt_tokens, inner);
            else if (name == "completion_tokens")
                take(usage.completion_tokens, inner);
            else if (name == "prompt_tokens_details")
                for_each_member(inner, [&usage](std::string_view detail, json::value count) {
                    if (detail == "cached_tokens") take(usage.cached_tokens, count);
                });
            else if (name == "completion_tokens_details")
                for_each_member(inner, [&usage](std::string_view detail, json::value count) {
                    if (detail == "reasoning_tokens") take(usage.reasoning_tokens, count);
                });
        });
    }

    // llama.cpp: the same facts as `usage`, on the finish event. An explicit usage object wins.
    void read_timings(json::value value) {
        std::optional<std::uint64_t> cached, prompt, predicted;
        auto& spec = answer.speculation;
        for_each_member(value, [&](std::string_view name, json::value inner) {
            if (name == "cache_n")
                take(cached, inner);
            else if (name == "prompt_n")
                take(prompt, inner);
            else if (name == "predicted_n")
                take(predicted, inner);
            else if (name == "draft_n")
                take(spec.drafted, inner);
            else if (name == "draft_n_accepted")
                take(spec.accepted, inner);
        });
        Usage told;
        told.completion_tokens = predicted;
        told.cached_tokens = cached;
        if (prompt) told.prompt_tokens = *prompt + cached.value_or(0);
        told.update(answer.usage);
        answer.usage = told;
    }

    void read_engine_metrics(json::value value) {
        auto& spec = answer.speculation;
        for_each_member(value, [&spec](std::string_view name, json::value inner) {
            if (name != "speculative_decoding") return;
            for_each_member(inner, [&spec](std::string_view field, json::value number) {
                if (field == "num_spec_steps")
                    take(spec.steps, number);
                else if (field == "num_draft_tokens")
                    take(spec.drafted, number);
                else if (field == "num_accepted_draft_tokens")
                    take(spec.accepted, number);
                else if (field == "mean_acceptance_length") {
                    double length = 0;
                    if (!number.get_double().get(length)) spec.accepted_length = length;
                }
            });
        });
    }

    void note_string(json::value value, bool visible) {
        const std::string_view token = trimmed(value.raw_json_token());
        if (!token.starts_with('"')) return;
        // Half a surrogate pair, of which an engine sends the other half next, cannot be unescaped but is output.
        std::string_view string = token.substr(1, token.size() - 2);
        if (value.get_string().get(string)) string = token.substr(1, token.size() - 2);
        if (string.empty()) return;
        const bool first = !answer.carries_output;
        note_output(string.size(), visible);
        const auto begin = static_cast<std::size_t>(token.data() - text.data()) + 1;
        if (first && wants_only_string && plain_string_bytes(text, begin) == string.size())
            answer.only_string = StringSpan{begin, begin + string.size()};
    }

    void note_output(std::size_t bytes, bool visible) {
        if (bytes == 0) return;
        answer.only_string.reset();
        answer.carries_output = true;
        answer.visible_output = answer.visible_output || visible;
        answer.output_bytes += bytes;
    }

    // `delta` of a stream or `message` of a whole answer.
    void read_delta(json::value value) {
        for_each_member(value, [this](std::string_view name, json::value inner) {
            if (name == "content" || name == "refusal")
                note_string(inner, true);
            else if (name == "reasoning_content" || name == "reasoning")
                note_string(inner, false);
            else if (name == "tool_calls" || name == "function_call")
                read_tool_calls(inner);
        });
    }

    void read_tool_calls(json::value value) {
        Type type{};
        if (value.type().get(type) || (type != Type::array && type != Type::object)) return;
        std::string_view raw;
        if (type == Type::array) {
            json::array array;
            bool empty = true;
            if (value.get_array().get(array) || array.is_empty().get(empty) || empty) return;
            if (array.raw_json().get(raw)) return;
        } else {
            json::object object;
            if (value.get_object().get(object) || object.raw_json().get(raw)) return;
        }
        note_output(raw.size(), false);
    }

    // vLLM with return_token_ids: all that shows of a token without text.
    void read_token_ids(json::value value) {
        json::array array;
        std::size_t count = 0;
        if (value.get_array().get(array) || array.count_elements().get(count) || count == 0) return;
        answer.token_ids = answer.token_ids.value_or(0) + count;
        answer.carries_output = true;
    }

    void read_choice(json::value value) {
        std::uint64_t index = 0;
        bool finished = false;
        for_each_member(value, [&](std::string_view name, json::value inner) {
            if (name == "index") {
                if (inner.get_uint64().get(index)) index = 0;
            } else if (name == "delta" || name == "message") {
                read_delta(inner);
            } else if (name == "text") {
                note_string(inner, true);
            } else if (name == "token_ids") {
                read_token_ids(inner);
            } else if (name == "finish_reason") {
                std::string_view reason;
                if (inner.get_string().get(reason) || reason.empty()) return;
                answer.finish_reason.assign(reason);
                finished = true;
            }
        });
        if (index >= 64) return answer.far_choices.push_back({.index = index, .finished = finished});
        const std::uint64_t bit = 1ULL << index;
        answer.seen_choices |= bit;
        if (finished) answer.finished_choices |= bit;
    }

    // Returns how many choices there are, or nullopt when `choices` is not an array.
    std::optional<std::size_t> read_choices(json::value value) {
        json::array array;
        if (value.get_array().get(array)) return std::nullopt;
        std::size_t count = 0;
        for (auto element : array) {
            json::value choice;
            if (element.get(choice)) break;
            read_choice(choice);
            ++count;
        }
        return count;
    }

    // Cuts the marked members with one comma each, so that what stays is valid JSON.
    void cut_members() {
        std::size_t i = 0;
        while (i < members.size()) {
            if (!members[i].cut) {
                ++i;
                continue;
            }
            const std::size_t first = i;
            while (i < members.size() && members[i].cut)
                ++i;
            if (i < members.size()) {
                answer.edits.push_back({members[first].begin, members[i].begin, {}});
                continue;
            }
            // At the end: the comma before goes, up to the closing brace. Only blanks and that comma stand between.
            const std::size_t begin = first == 0 ? members[0].begin : text.rfind(',', members[first].begin);
            answer.edits.push_back({begin, text.rfind('}'), {}});
        }
    }

    // Returns false where the JSON breaks.
    bool read_root(json::object root, const AnswerPolicy& policy) {
        std::optional<std::size_t> choices;
        bool has_usage = false;
        for (auto element : root) {
            json::field field;
            std::string_view name;
            if (std::move(element).get(field)) return false;
            const auto begin = static_cast<std::size_t>(field.key().raw() - text.data()) - 1;
            if (field.unescaped_key().get(name)) return false;
            members.push_back({begin, std::ranges::find(policy.private_members, name) != policy.private_members.end()});
            const json::value value = field.value();
            if (name == "choices")
                choices = read_choices(value);
            else if (name == "usage")
                has_usage = read_usage(value) || has_usage;
            else if (name == "timings")
                read_timings(value);
            else if (name == "metrics")
                read_engine_metrics(value);
            else if (name == "model")
                note_model(value, policy);
            else if (name == "error")
                note_error(value);
        }
        answer.usage_only = has_usage && choices == std::size_t{0};
        return true;
    }

    void note_model(json::value value, const AnswerPolicy& policy) {
        const auto token = trimmed(value.raw_json_token());
        if (!token.starts_with('"')) return;
        const auto begin = static_cast<std::size_t>(token.data() - text.data());
        answer.edits.push_back({begin, begin + token.size(), policy.alias_json});
    }

    void note_error(json::value value) {
        bool null = false;
        answer.has_error = value.is_null().get(null) || !null;
    }

    void reset() {
        auto edits = std::move(answer.edits);
        auto far_choices = std::move(answer.far_choices);
        edits.clear();
        far_choices.clear();
        answer = Answer{};
        answer.edits = std::move(edits);
        answer.far_choices = std::move(far_choices);
        members.clear();
    }
};

AnswerReader::AnswerReader() : state_{std::make_unique<State>()} {}
AnswerReader::AnswerReader(AnswerReader&&) noexcept = default;
AnswerReader& AnswerReader::operator=(AnswerReader&&) noexcept = default;
AnswerReader::~AnswerReader() = default;

const Answer& AnswerReader::read(std::string_view text, const AnswerPolicy& policy) {
    auto& state = *state_;
    // What a long answer needed is not kept for the short ones.
    if (state.parser.capacity() > most_kept_bytes && text.size() <= most_kept_bytes) state.parser = json::parser{};
    state.reset();
    state.text = text;
    state.wants_only_string = policy.wants_only_string;
    if (text.empty()) return state.answer;
    json::document document;
    json::object root;
    const simdjson::padded_string_view padded{text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING};
    if (state.parser.iterate(padded).get(document) || document.get_object().get(root)) return state.answer;
    const bool whole = state.read_root(root, policy) && document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    if (!whole) {
        state.reset();
        return state.answer;
    }
    state.answer.is_object = true;
    state.cut_members();
    std::ranges::sort(state.answer.edits, {}, &Edit::begin);
    return state.answer;
}

}  // namespace weir::gateway
