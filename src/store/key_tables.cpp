#include "store/key_tables.h"

namespace weir::store {

namespace {

// `live` = 0 gives the name free: the key is revoked, or it has expired and another took its name.
// `change` is the value of key_changes.newest when the key was last changed.
constexpr auto create_tables = R"(
CREATE TABLE key_changes (newest INTEGER NOT NULL);
INSERT INTO key_changes VALUES (0);
CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    team TEXT NOT NULL DEFAULT '',
    application TEXT NOT NULL DEFAULT '',
    workload TEXT NOT NULL DEFAULT '',
    permissions TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    live INTEGER NOT NULL DEFAULT 1,
    change INTEGER NOT NULL
);
CREATE UNIQUE INDEX keys_live_name ON keys (tenant, name) WHERE live = 1;
CREATE INDEX keys_name ON keys (name);
CREATE INDEX keys_change ON keys (change);
CREATE TABLE key_secrets (
    key INTEGER NOT NULL REFERENCES keys (number),
    sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    created INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (key, sha256)
) WITHOUT ROWID;
)";

}  // namespace

std::vector<Migration> key_migrations() { return {{.number = 3, .sql = create_tables}}; }

}  // namespace weir::store
