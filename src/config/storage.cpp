#include "config/storage.h"

#include "config/tables.h"
#include "config/types.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace weir::config {

namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

bool has_scheme(std::string_view url, std::span<const std::string_view> schemes) noexcept {
    return std::ranges::any_of(
        schemes, [url](std::string_view scheme) { return url.starts_with(scheme) && url.size() > scheme.size(); });
}

// A URL that may hold a password, so that it is never part of a message.
Type<Secret> secret_url(std::vector<std::string_view> schemes, std::string_view word, std::string_view help) {
    auto type = secret();
    type.read = [read = type.read, schemes = std::move(schemes), word, help](Reader& reader, const base::Node& node,
                                                                             Secret& out) {
        Secret url;
        if (!read(reader, node, url)) return false;
        const bool known = (!word.empty() && url.reveal() == word) || has_scheme(url.reveal(), schemes);
        if (!known) return reader.refuse(node, std::string{help});
        out = std::move(url);
        return true;
    };
    return type;
}

}  // namespace

StoreKind Store::kind() const noexcept {
    return url.reveal().starts_with(sqlite_scheme) ? StoreKind::sqlite : StoreKind::postgresql;
}

std::string Store::sqlite_path() const {
    return kind() == StoreKind::sqlite ? url.reveal().substr(sqlite_scheme.size()) : std::string{};
}

std::string Store::spool_path() const {
    if (spool.path) return *spool.path;
    return kind() == StoreKind::sqlite ? sqlite_path() + ".spool" : "weir.spool";
}

std::string_view name_of(SpoolFull policy) noexcept {
    switch (policy) {
        case SpoolFull::refuse: return "refuse";
        case SpoolFull::drop: return "drop";
    }
    return "";
}

namespace {

const Table<Spool>& spool_table() {
    constexpr std::uint64_t kib = 1024;
    constexpr std::uint64_t mib = 1024 * kib;
    static const Table<Spool> table{
        field("path", &Spool::path, text(),
              "A directory of its own on a local disk; by default the store's file name with .spool behind it."),
        field("cap", &Spool::cap_bytes, size({512 * kib, 1024 * 1024 * mib}),
              "How large the spool may grow while the store takes no records."),
        field("segment", &Spool::segment_bytes, size({64 * kib, 64 * mib}),
              "The size of one file; smaller where the cap is little for the workers."),
        field("when_full", &Spool::when_full, choice(named_choices(std::array{SpoolFull::refuse, SpoolFull::drop})),
              "What happens to requests that find no room: 503 overloaded, or served without a record."),
    };
    return table;
}

}  // namespace

const Table<Store>& store_table() {
    static const Table<Store> table{
        field("url", &Store::url,
              secret_url({sqlite_scheme, "postgresql://", "postgres://"}, "", "expected sqlite:PATH or postgresql://…"),
              "Where keys, records and rollouts are kept: sqlite:PATH or postgresql://…; a password by reference."),
        field("spool", &Store::spool, object(spool_table()),
              "Where records wait until the store has them; they survive the death of the process."),
    };
    return table;
}

const Table<SharedLimits>& shared_limits_table() {
    static const Table<SharedLimits> table{
        field("url", &SharedLimits::url, secret_url({"redis://", "rediss://"}, "local", "expected local or redis://…"),
              "Where limits are counted: local, or redis://… for several gateways."),
    };
    return table;
}

}  // namespace weir::config
