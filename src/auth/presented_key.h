// presented_key: the secret a request presents, from `Authorization: Bearer …` or `x-api-key`. Pure; views of its
// input.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::auth {

inline constexpr std::size_t max_secret_bytes = 4096;

// The values of the request's credential headers; nullopt = the header is absent. A caller that sees one of them
// more than once in a request treats the request as having no valid credential.
struct CredentialHeaders {
    std::optional<std::string_view> authorization;
    std::optional<std::string_view> x_api_key;
};

// nullopt when no header is there, when one that is there is malformed (another scheme than Bearer, empty, a byte
// outside visible ASCII, longer than max_secret_bytes), or when both are there and differ.
[[nodiscard]] std::optional<std::string_view> presented_key(const CredentialHeaders& headers) noexcept;

}  // namespace weir::auth
