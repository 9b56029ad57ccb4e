#include "base/sha256.h"

#include "base/hex.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstring>
#include <memory>
#include <stdexcept>

namespace weir::base {

namespace {

// Fetching walks OpenSSL's provider tables under a lock, which costs more than hashing a key; so once, never freed.
const EVP_MD* algorithm() {
    static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    if (md == nullptr) throw std::runtime_error{"OpenSSL has no SHA-256"};
    return md;
}

struct FreeContext {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

EVP_MD_CTX* thread_context() {
    thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context{EVP_MD_CTX_new()};
    if (!context) throw std::bad_alloc{};
    return context.get();
}

}  // namespace

Sha256Digest sha256(std::string_view bytes) {
    auto* const context = thread_context();
    Sha256Digest digest;
    unsigned int length = 0;
    const bool done = EVP_DigestInit_ex2(context, algorithm(), nullptr) == 1 &&
                      EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
                      EVP_DigestFinal_ex(context, digest.data(), &length) == 1;
    if (!done || length != digest.size()) throw std::runtime_error{"SHA-256 failed"};
    return digest;
}

std::string to_hex(const Sha256Digest& digest) { return to_hex(std::span<const std::uint8_t>{digest}); }

std::optional<Sha256Digest> sha256_from_hex(std::string_view text) noexcept {
    Sha256Digest digest{};
    if (!from_hex(text, digest)) return std::nullopt;
    return digest;
}

bool equal_in_constant_time(const Sha256Digest& a, const Sha256Digest& b) noexcept {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::size_t Sha256Hash::operator()(const Sha256Digest& digest) const noexcept {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
}

}  // namespace weir::base
