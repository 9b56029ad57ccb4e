#include "telemetry/record_codec.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace weir::telemetry {

namespace {

using model::RequestRecord;

// Names come from the configuration, which allows 128 bytes.
constexpr std::size_t name_bytes = 128;
constexpr std::size_t url_bytes = 256;
constexpr std::size_t id_bytes = 64;
constexpr std::size_t word_bytes = 32;

// The one table of fields: encoder and decoder walk it, and its order is the format's. Every line is one bit of the
// mask in front, which says whether the field is there.
template <class Coder, class Record>
void visit_fields(Coder& code, Record& r) {
    code.text(r.request_id, id_bytes);
    code.text(r.client_request_id, name_bytes);
    code.text(r.trace_id, id_bytes);
    code.time(r.time);
    code.text(r.config_version, id_bytes);
    code.text(r.caller.tenant, name_bytes);
    code.text(r.caller.team, name_bytes);
    code.text(r.caller.application, name_bytes);
    code.text(r.caller.key, name_bytes);
    code.text(r.caller.workload, name_bytes);
    code.text(r.alias, name_bytes);
    code.choice(r.endpoint, model::all_endpoints.back());
    code.flag(r.stream);
    code.number(r.client_timeout_ms);
    code.number(r.max_tokens);
    code.features(r.features);
    code.text(r.temperature_class, word_bytes);
    code.text(r.pool, name_bytes);
    code.text(r.replica, url_bytes);
    code.text(r.region, name_bytes);
    code.text(r.engine_version, id_bytes);
    code.text(r.assigned_arm, word_bytes);
    code.text(r.decision.chosen_by, word_bytes);
    code.number(r.decision.score);
    code.number(r.decision.inflight_at_dispatch);
    code.flag(r.decision.cut);
    code.number(r.status);
    code.choice(r.outcome, model::Outcome::interrupted);
    code.choice(r.reason, model::last_reason);
    code.text(r.policy_outcome, word_bytes);
    code.number(r.prompt_bytes);
    code.number(r.prompt_tokens);
    code.number(r.cached_tokens);
    code.number(r.completion_tokens);
    code.number(r.reasoning_tokens);
    code.number(r.delivered_tokens);
    code.choice(r.usage_source, model::UsageSource::estimate);
    code.text(r.finish_reason, id_bytes);
    code.number(r.queue_ms);
    code.number(r.ttft_ms);
    code.number(r.upstream_ttft_ms);
    code.number(r.first_visible_ms);
    code.number(r.tpot_ms);
    code.number(r.duration_ms);
    code.number(r.gateway_ms);
    code.number(r.events);
    code.number(r.spec.steps);
    code.number(r.spec.drafted);
    code.number(r.spec.accepted);
    code.number(r.spec.accepted_length);
    code.text(r.spec.source, word_bytes);
    code.list(r.attempts);
    code.list(r.decision.eligible);
    code.list(r.decision.excluded);
}

template <class Coder, class Attempt>
void visit_attempt(Coder& code, Attempt& attempt) {
    code.text(attempt.pool, name_bytes);
    code.text(attempt.replica, url_bytes);
    code.text(attempt.engine_request_id, id_bytes);
    code.choice(attempt.outcome, model::AttemptOutcome::stale_connection);
    code.number(attempt.duration_ms);
    code.number(attempt.prompt_tokens);
    code.number(attempt.completion_tokens);
}

template <class Coder, class Excluded>
void visit_exclusion(Coder& code, Excluded& excluded) {
    code.text(excluded.pool, name_bytes);
    code.choice(excluded.reason, model::Ineligible::all_replicas_unhealthy);
    code.text(excluded.parameter, id_bytes);
}

// What one item of a list may take, its mask and lengths included; checked before it is written.
constexpr std::size_t bound_of(std::string_view pool) noexcept { return 8 + 2 + std::min(pool.size(), name_bytes); }
std::size_t bound_of(const model::AttemptRecord& attempt) noexcept {
    return 8 + 2 + std::min(attempt.pool.size(), name_bytes) + 2 + std::min(attempt.replica.size(), url_bytes) + 2 +
           std::min(attempt.engine_request_id.size(), id_bytes) + 1 + 3 * 8;
}
std::size_t bound_of(const model::Exclusion& excluded) noexcept {
    return 8 + 2 + std::min(excluded.pool.size(), name_bytes) + 1 + 2 + std::min(excluded.parameter.size(), id_bytes);
}

class Encoder {
public:
    Encoder(std::byte* at, const std::byte* limit) noexcept : at_{at}, limit_{limit} { open(); }

    void text(std::string_view value, std::size_t most) noexcept {
        if (!mark(!value.empty())) return;
        const auto size = static_cast<std::uint16_t>(std::min(value.size(), most));
        raw(size);
        std::memcpy(at_, value.data(), size);
        at_ += size;
    }
    void time(base::WallTime value) noexcept {
        mark(true);
        raw(static_cast<std::int64_t>(value.time_since_epoch().count()));
    }
    void flag(bool value) noexcept { mark(value); }
    template <class T>
    void number(const std::optional<T>& value) noexcept {
        if (mark(value.has_value())) raw(*value);
    }
    template <class T>
    void number(T value) noexcept {
        mark(true);
        raw(value);
    }
    template <class E>
    void choice(const std::optional<E>& value, E) noexcept {
        if (mark(value.has_value())) raw(static_cast<std::uint8_t>(*value));
    }
    template <class E>
    void choice(E value, E) noexcept {
        mark(true);
        raw(static_cast<std::uint8_t>(value));
    }
    void features(model::FeatureSet value) noexcept {
        if (!mark(!value.empty())) return;
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < model::all_features.size(); ++i)
            bits |= value.contains(model::all_features[i]) ? 1U << i : 0U;
        raw(bits);
    }
    template <class Items>
    void list(const Items& items) noexcept {
        if (!mark(!items.empty())) return;
        auto* const count_at = at_;
        at_ += sizeof(std::uint16_t);
        std::uint16_t count = 0;
        for (const auto& one : items) {
            if (at_ + bound_of(one) > limit_ || count == UINT16_MAX) break;
            item(one);
            ++count;
        }
        std::memcpy(count_at, &count, sizeof count);
        cut_ = cut_ || count < items.size();
    }
    // The mask goes in front; returns the end.
    [[nodiscard]] std::byte* close() noexcept {
        std::memcpy(mask_at_, &mask_, sizeof mask_);
        return at_;
    }
    [[nodiscard]] bool cut() const noexcept { return cut_; }
    void set(unsigned bit) noexcept { mask_ |= std::uint64_t{1} << bit; }

private:
    void open() noexcept {
        mask_at_ = at_;
        at_ += sizeof mask_;
        mask_ = 0;
        bit_ = 0;
    }
    // Branches, as the field itself does: an absent one then costs nothing more.
    bool mark(bool present) noexcept {
        if (present) mask_ |= std::uint64_t{1} << bit_;
        ++bit_;
        return present;
    }
    template <class T>
    void raw(T value) noexcept {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
    }
    void item(std::string_view pool) noexcept { raw_text(pool, name_bytes); }
    void item(const model::AttemptRecord& attempt) noexcept {
        Encoder inner{at_, limit_};
        visit_attempt(inner, attempt);
        at_ = inner.close();
    }
    void item(const model::Exclusion& excluded) noexcept {
        Encoder inner{at_, limit_};
        visit_exclusion(inner, excluded);
        at_ = inner.close();
    }
    void raw_text(std::string_view value, std::size_t most) noexcept {
        const auto size = static_cast<std::uint16_t>(std::min(value.size(), most));
        raw(size);
        if (size == 0) return;  // and maybe no address
        std::memcpy(at_, value.data(), size);
        at_ += size;
    }

    std::byte* at_;
    const std::byte* limit_;
    std::byte* mask_at_ = nullptr;
    std::uint64_t mask_ = 0;
    unsigned bit_ = 0;
    bool cut_ = false;
};

class Decoder {
public:
    explicit Decoder(std::span<const std::byte> bytes) noexcept : left_{bytes} { open(); }

    template <class Text>
    void text(Text& value, std::size_t most) {
        if (present())
            raw_text(value, most);
        else
            value = {};
    }
    void time(base::WallTime& value) noexcept {
        std::int64_t count = 0;
        if (present()) raw(count);
        value = base::WallTime{base::Nanoseconds{count}};
    }
    void flag(bool& value) noexcept { value = present(); }
    template <class T>
    void number(std::optional<T>& value) noexcept {
        value.reset();
        if (present()) raw(value.emplace());
    }
    template <class T>
    void number(T& value) noexcept {
        value = {};
        if (present()) raw(value);
    }
    template <class E>
    void choice(std::optional<E>& value, E last) noexcept {
        value.reset();
        if (present()) enumerator(value.emplace(), last);
    }
    template <class E>
    void choice(E& value, E last) noexcept {
        value = {};
        if (present()) enumerator(value, last);
    }
    void features(model::FeatureSet& value) noexcept {
        value = {};
        if (!present()) return;
        std::uint32_t bits = 0;
        raw(bits);
        good_ = good_ && (bits >> model::all_features.size()) == 0;
        for (std::size_t i = 0; i < model::all_features.size(); ++i)
            if ((bits & (1U << i)) != 0) value.add(model::all_features[i]);
    }
    template <class Items>
    void list(Items& items) {
        std::uint16_t count = 0;
        if (present()) raw(count);
        // An item takes two bytes at least, so that no number of items asks for more memory than the bytes explain.
        good_ = good_ && count <= left_.size() / 2;
        items.resize(good_ ? count : 0);
        for (auto& one : items)
            if (good_) item(one);
    }
    // Every field was there as the mask says, and nothing else was.
    [[nodiscard]] bool complete() const noexcept {
        return good_ && left_.empty() && (bit_ == 64 || mask_ >> bit_ == 0);
    }

private:
    void open() noexcept { raw(mask_); }
    [[nodiscard]] bool present() noexcept { return good_ && ((mask_ >> bit_++) & 1U) != 0; }
    template <class T>
    void raw(T& value) noexcept {
        if (left_.size() < sizeof value) {
            good_ = false;
            return;
        }
        std::memcpy(&value, left_.data(), sizeof value);
        left_ = left_.subspan(sizeof value);
    }
    template <class E>
    void enumerator(E& value, E last) noexcept {
        std::uint8_t number = 0;
        raw(number);
        good_ = good_ && number <= static_cast<std::uint8_t>(last);
        if (good_) value = static_cast<E>(number);
    }
    template <class Text>
    void raw_text(Text& value, std::size_t most) {
        std::uint16_t size = 0;
        raw(size);
        good_ = good_ && size <= most && size <= left_.size();
        if (!good_) return;
        value = std::string_view{reinterpret_cast<const char*>(left_.data()), size};
        left_ = left_.subspan(size);
    }
    void item(std::string_view& pool) { raw_text(pool, name_bytes); }
    void item(model::AttemptRecord& attempt) {
        nested([&attempt](Decoder& inner) { visit_attempt(inner, attempt); });
    }
    void item(model::Exclusion& excluded) {
        nested([&excluded](Decoder& inner) { visit_exclusion(inner, excluded); });
    }
    template <class Visit>
    void nested(Visit visit) {
        Decoder inner{left_};
        visit(inner);
        good_ = inner.good_ && inner.mask_ >> inner.bit_ == 0;
        left_ = inner.left_;
    }

    std::span<const std::byte> left_;
    std::uint64_t mask_ = 0;
    unsigned bit_ = 0;
    bool good_ = true;
};

constexpr unsigned cut_bit = 25;  // of decision.cut in the table; a test holds them together

}  // namespace

std::size_t encode_record(const RequestRecord& record, std::span<std::byte> out) noexcept {
    const std::size_t most = std::min(out.size(), max_record_bytes);
    Encoder encoder{out.data(), out.data() + most};
    visit_fields(encoder, record);
    if (encoder.cut()) encoder.set(cut_bit);
    const auto size = static_cast<std::size_t>(encoder.close() - out.data());
    assert(size <= most && "the caller left room for everything but the lists");
    return size;
}

bool decode_record(std::span<const std::byte> bytes, RequestRecord& record) {
    Decoder decoder{bytes};
    visit_fields(decoder, record);
    record.caller.permissions = {};
    return decoder.complete();
}

}  // namespace weir::telemetry
