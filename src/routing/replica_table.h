// ReplicaTable: what outlives a reload: the slots of all replicas by (pool, URL), so that the same URL keeps its
// counters and health, and what was learnt of pools' prompts. Each lives while a snapshot or a lease names it; the
// table itself only remembers (weak). Any thread; a short mutex, taken when a snapshot is built, never on the request
// path.
#pragma once

#include "routing/prompt_overhead.h"
#include "routing/replica_slot.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace weir::routing {

class ReplicaTable {
public:
    // The slot of this replica, new (health unknown, nothing in flight) when nobody holds one.
    [[nodiscard]] std::shared_ptr<ReplicaSlot> slot(std::string_view pool, std::string_view url);
    // What is learnt of a pool's prompts. `identity` names everything that decides its tokens (engine, model,
    // template): another identity begins anew.
    [[nodiscard]] std::shared_ptr<PromptOverhead> prompts(std::string_view identity);
    // Slots that are alive; forgotten ones are dropped.
    [[nodiscard]] std::size_t size();

private:
    using Key = std::pair<std::string, std::string>;
    void forget_dead();
    std::mutex mutex_;
    std::map<Key, std::weak_ptr<ReplicaSlot>> slots_;
    std::map<std::string, std::weak_ptr<PromptOverhead>, std::less<>> prompts_;
};

}  // namespace weir::routing
