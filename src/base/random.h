// Random: a fast generator (xoshiro256**, Blackman and Vigna 2018) for jitter, sampling and request ids; not for
// secrets, for which there is fill_secure(). Satisfies std::uniform_random_bit_generator. One object belongs to one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace weir::base {

class Random {
public:
    using result_type = std::uint64_t;

    // The same seed gives the same sequence on every machine; tests print it.
    explicit Random(std::uint64_t seed) noexcept;
    // Seeded by the kernel.
    [[nodiscard]] static Random from_system();

    static constexpr result_type min() noexcept { return 0; }
    static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
    result_type operator()() noexcept;

    // Uniform in [0, bound), without bias; bound > 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept;
    // Uniform in [0, 1).
    [[nodiscard]] double unit() noexcept;

private:
    Random() = default;
    std::uint64_t state_[4] = {};
};

// This thread's own generator, seeded by the kernel at first use.
[[nodiscard]] Random& thread_random();

// Bytes from the kernel, for keys and tokens. Waits only while the system has not gathered entropy since boot.
void fill_secure(std::span<std::uint8_t> out);

}  // namespace weir::base
