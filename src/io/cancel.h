// Cancel: one event ("the client has gone", "we are stopping") that ends waits early.
// Invariant: fired at most once; a waiter is resumed through the reactor's ready queue, never inside fire().
// Threads: one reactor's thread. Lifetime: outlives every wait that names it; its death fires it.
#pragma once

#include "io/intrusive.h"

namespace weir::io {

class WaitNode;

class Cancel {
public:
    Cancel() noexcept = default;
    Cancel(const Cancel&) = delete;
    Cancel& operator=(const Cancel&) = delete;
    ~Cancel();

    // Ends every present and future wait that names this object with ErrorCode::cancelled. Idempotent.
    void fire() noexcept;
    [[nodiscard]] bool fired() const noexcept { return fired_; }

private:
    friend class WaitNode;
    IntrusiveList<WaitNode> waiters_;
    bool fired_ = false;
};

}  // namespace weir::io
