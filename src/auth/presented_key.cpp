#include "auth/presented_key.h"

#include <algorithm>

namespace weir::auth {

namespace {

constexpr std::string_view scheme = "bearer";

char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_visible(char letter) noexcept { return letter > ' ' && letter <= '~'; }

std::optional<std::string_view> checked(std::string_view secret) noexcept {
    if (secret.empty() || secret.size() > max_secret_bytes) return std::nullopt;
    if (!std::ranges::all_of(secret, is_visible)) return std::nullopt;
    return secret;
}

// RFC 9110 section 11.4: the scheme is compared without case, one or more blanks follow it.
std::optional<std::string_view> bearer_token(std::string_view value) noexcept {
    if (value.size() <= scheme.size()) return std::nullopt;
    if (!std::ranges::equal(value.substr(0, scheme.size()), scheme, {}, lower)) return std::nullopt;
    value.remove_prefix(scheme.size());
    const std::size_t start = value.find_first_not_of(' ');
    if (start == 0 || start == std::string_view::npos) return std::nullopt;
    return checked(value.substr(start));
}

}  // namespace

std::optional<std::string_view> presented_key(const CredentialHeaders& headers) noexcept {
    if (!headers.authorization.has_value()) return headers.x_api_key.and_then(checked);
    const auto token = bearer_token(*headers.authorization);
    if (!headers.x_api_key.has_value() || !token.has_value()) return token;
    return *headers.x_api_key == *token ? token : std::nullopt;
}

}  // namespace weir::auth
