#include "routing/replica_table.h"

namespace weir::routing {

std::shared_ptr<ReplicaSlot> ReplicaTable::slot(std::string_view pool, std::string_view url) {
    const std::scoped_lock lock{mutex_};
    std::weak_ptr<ReplicaSlot>& known = slots_[Key{pool, url}];
    if (auto alive = known.lock()) return alive;
    auto fresh = std::make_shared<ReplicaSlot>();
    known = fresh;
    forget_dead();
    return fresh;
}

std::shared_ptr<PromptOverhead> ReplicaTable::prompts(std::string_view identity) {
    const std::scoped_lock lock{mutex_};
    std::weak_ptr<PromptOverhead>& known = prompts_[std::string{identity}];
    if (auto alive = known.lock()) return alive;
    auto fresh = std::make_shared<PromptOverhead>();
    known = fresh;
    forget_dead();
    return fresh;
}

std::size_t ReplicaTable::size() {
    const std::scoped_lock lock{mutex_};
    forget_dead();
    return slots_.size();
}

void ReplicaTable::forget_dead() {
    std::erase_if(slots_, [](const auto& named) { return named.second.expired(); });
    std::erase_if(prompts_, [](const auto& named) { return named.second.expired(); });
}

}  // namespace weir::routing
