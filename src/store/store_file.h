// StoreFile: tells whether a path still names the SQLite file that was opened under it.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace weir::store {

class StoreFile {
public:
    // Before open_sqlite(path): another file that takes its place meanwhile is then seen as such.
    explicit StoreFile(std::string path);
    // After it, when the file and its log are there; and before the connection is closed, for then their numbers may be
    // given to other files.
    void opened() noexcept;
    void closing() noexcept { log_.reset(); }

    enum class Place : std::uint8_t { same, replaced };

    // Errors: unavailable, when nothing is there, or when a file was put there beside the open log of the one before:
    // SQLite would read the pages of that log into it.
    [[nodiscard]] base::Result<Place> look() const;

private:
    struct Identity {
        dev_t device = 0;
        ino_t inode = 0;
        friend bool operator==(const Identity&, const Identity&) = default;
    };
    static std::optional<Identity> identity_of(const std::string& path) noexcept;

    std::string path_;
    std::optional<Identity> file_;
    std::optional<Identity> log_;
};

}  // namespace weir::store
