#include "base/random.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <stdexcept>

namespace weir::base {

namespace {

// SplitMix64 spreads one seed over the state, so that near seeds give unrelated sequences.
std::uint64_t split_mix(std::uint64_t& state) noexcept {
    state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31U);
}

}  // namespace

Random::Random(std::uint64_t seed) noexcept {
    for (auto& word : state_)
        word = split_mix(seed);
}

Random Random::from_system() {
    std::uint8_t bytes[sizeof(std::uint64_t[4])];
    fill_secure(bytes);
    Random random;
    for (std::size_t i = 0; i < sizeof bytes; ++i)
        random.state_[i / 8] |= static_cast<std::uint64_t>(bytes[i]) << (i % 8 * 8);
    return random;
}

Random::result_type Random::operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

std::uint64_t Random::below(std::uint64_t bound) noexcept {
    // Values under the threshold would make the low results more likely, so they are drawn again.
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        const std::uint64_t drawn = (*this)();
        if (drawn >= threshold) return drawn % bound;
    }
}

double Random::unit() noexcept { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }

Random& thread_random() {
    thread_local Random random = Random::from_system();
    return random;
}

void fill_secure(std::span<std::uint8_t> out) {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got = getrandom(out.data() + done, out.size() - done, 0);
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            throw std::runtime_error{"the kernel gave no random bytes"};
    }
}

}  // namespace weir::base
