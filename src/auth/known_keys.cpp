#include "auth/known_keys.h"

#include "base/random.h"

#include <cstring>
#include <sodium.h>

namespace weir::auth {

KnownKeys::KnownKeys() : slots_(slot_count) {
    static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof hash_key_);
    static_assert(crypto_shorthash_siphashx24_BYTES == sizeof(Tag));
    base::fill_secure(hash_key_);
}

KnownKeys::Tag KnownKeys::tag_of(std::string_view secret) const noexcept {
    Tag tag;
    crypto_shorthash_siphashx24(tag.data(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
                                hash_key_.data());
    return tag;
}

void KnownKeys::forget() noexcept { table_.reset(); }

std::optional<Entry> KnownKeys::authenticate(const std::shared_ptr<const KeyTable>& table,
                                             std::string_view presented_secret, base::WallTime now) {
    if (table_ != table) {
        table_ = table;
        slots_.assign(slot_count, {});
    }
    if (presented_secret.empty()) return table->authenticate(presented_secret, now);
    const Tag tag = tag_of(presented_secret);
    std::size_t home = 0;
    std::memcpy(&home, tag.data(), sizeof home);
    Slot& slot = slots_[home % slot_count];
    if (slot.place.layer != nullptr && sodium_memcmp(slot.tag.data(), tag.data(), tag.size()) == 0)
        if (auto entry = KeyTable::entry_at(slot.place, now)) return entry;
    // A key that has expired since takes the long way too, as every secret that is refused.
    const auto place = table->find(presented_secret);
    auto entry = KeyTable::entry_at(place, now);
    if (entry) slot = {.tag = tag, .place = place};
    return entry;
}

}  // namespace weir::auth
