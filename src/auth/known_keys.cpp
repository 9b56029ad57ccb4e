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
    crypto_shorthash_siphashx24(reinterpret_cast<unsigned char*>(tag.data()),
                                reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), hash_key_.data());
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
    Slot& slot = slots_[tag[0] % slot_count];
    const bool same = ((slot.tag[0] ^ tag[0]) | (slot.tag[1] ^ tag[1])) == 0;  // no part of it tells anything
    if (slot.place.layer != nullptr && same)
        if (auto entry = KeyTable::entry_at(slot.place, now)) return entry;
    // A key that has expired since takes the long way too, as every secret that is refused.
    const auto place = table->find(presented_secret);
    auto entry = KeyTable::entry_at(place, now);
    if (entry) slot = {.tag = tag, .place = place};
    return entry;
}

}  // namespace weir::auth
