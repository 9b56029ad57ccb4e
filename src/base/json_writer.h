// JsonWriter: builds one JSON text front to back in a string; commas and quoting are its job, nesting is the caller's.
// Invariant: the output is valid UTF-8, and valid JSON once every begin has its end and every key its value.
// Not thread-safe; reuse with clear() keeps the memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::base {

// Appends text in double quotes, escaped; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

class JsonWriter {
public:
    JsonWriter& begin_object();
    JsonWriter& end_object();
    JsonWriter& begin_array();
    JsonWriter& end_array();
    JsonWriter& key(std::string_view name);

    JsonWriter& string(std::string_view text);
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    JsonWriter& number(T value) {
        if constexpr (std::signed_integral<T>)
            return signed_number(static_cast<std::int64_t>(value));
        else
            return unsigned_number(static_cast<std::uint64_t>(value));
    }
    // The shortest text that reads back as the same number; not finite = null.
    JsonWriter& number(double value);
    // A fixed number of decimals, for people and stable diffs; not finite = null.
    JsonWriter& number(double value, int decimals);
    JsonWriter& boolean(bool value);
    JsonWriter& null();
    // Text that is already JSON.
    JsonWriter& raw(std::string_view json);

    // key and value in one.
    JsonWriter& member(std::string_view name, std::string_view text) { return key(name).string(text); }
    JsonWriter& member(std::string_view name, const char* text) { return key(name).string(text); }
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    JsonWriter& member(std::string_view name, T value) {
        return key(name).number(value);
    }
    JsonWriter& member(std::string_view name, double value) { return key(name).number(value); }
    template <std::same_as<bool> T>
    JsonWriter& member(std::string_view name, T value) {
        return key(name).boolean(value);
    }

    [[nodiscard]] const std::string& text() const noexcept { return out_; }
    [[nodiscard]] std::string take() &&;
    void clear() noexcept;

private:
    JsonWriter& signed_number(std::int64_t value);
    JsonWriter& unsigned_number(std::uint64_t value);
    void before_value();
    JsonWriter& close(char bracket);

    std::string out_;
    bool comma_due_ = false;  // the next member or item needs a comma before it
};

}  // namespace weir::base
