// Descriptor: owns one file descriptor and closes it at once. Move-only; -1 means none.
#pragma once

#include <unistd.h>

#include <utility>

namespace weir::io {

class Descriptor {
public:
    Descriptor() noexcept = default;
    explicit Descriptor(int number) noexcept : number_{number} {}
    Descriptor(Descriptor&& other) noexcept : number_{other.release()} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~Descriptor() { reset(); }

    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] bool valid() const noexcept { return number_ >= 0; }
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
    void reset(int number = -1) noexcept {
        const int old = std::exchange(number_, number);
        if (old >= 0) ::close(old);
    }

private:
    int number_ = -1;
};

}  // namespace weir::io
