// ChoiceTally: which choices of an answer have occurred and which have finished. A request may ask for many: n for each
// of its prompts. Bounded: choices beyond the limit share one mark. Pure.
#pragma once

#include "gateway/answer.h"

#include <cstdint>
#include <vector>

namespace weir::gateway {

class ChoiceTally {
public:
    static constexpr std::uint64_t limit = 1U << 16U;

    void note(const Answer& answer);
    // Every choice that was seen has finished, and there are as many as asked for.
    [[nodiscard]] bool complete(std::uint64_t wanted) const noexcept;

private:
    void note_far(const ChoiceMark& mark);

    std::uint64_t seen_ = 0;  // bits, of choices below 64
    std::uint64_t finished_ = 0;
    enum class Mark : std::uint8_t { absent, seen, finished };
    std::vector<Mark> far_;  // by index - 64
    std::uint64_t far_seen_ = 0;  // counts
    std::uint64_t far_finished_ = 0;
};

}  // namespace weir::gateway
