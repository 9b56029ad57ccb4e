#include "store/store_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

namespace weir::store {

namespace {

std::string log_of(const std::string& path) { return path + "-wal"; }

}  // namespace

StoreFile::StoreFile(std::string path) : path_{std::move(path)}, file_{identity_of(path_)} {}

void StoreFile::opened() noexcept {
    if (!file_) file_ = identity_of(path_);
    log_ = identity_of(log_of(path_));
}

base::Result<StoreFile::Place> StoreFile::look() const {
    const auto file = identity_of(path_);
    if (!file) {
        constexpr std::string_view gone = "store {}: the file is gone; put it back, or restart weir to begin a new one";
        return base::fail(base::ErrorCode::unavailable, fmt::format(gone, path_));
    }
    if (file == file_) return Place::same;
    if (log_ && identity_of(log_of(path_)) == log_) {
        constexpr std::string_view mixed =
            "store {0}: the file was replaced, but the log of the one before is still beside it; remove {0}-wal and "
            "{0}-shm";
        return base::fail(base::ErrorCode::unavailable, fmt::format(mixed, path_));
    }
    return Place::replaced;
}

std::optional<StoreFile::Identity> StoreFile::identity_of(const std::string& path) noexcept {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return std::nullopt;
    return Identity{.device = about.st_dev, .inode = about.st_ino};
}

}  // namespace weir::store
