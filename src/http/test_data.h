// What the module's tests share: the recorded traffic of a real engine, and a seeded source of random splits.
// Only tests include this.
#pragma once

#include "http/chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weir::http::test {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    EXPECT_TRUE(file.is_open()) << path;
    return {std::istreambuf_iterator<char>{file}, {}};
}

inline std::filesystem::path recordings_directory() { return std::filesystem::path{WEIR_TEST_DATA} / "recordings"; }

// Names without ".http", of those that hold at least one byte.
inline std::vector<std::string> recording_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{recordings_directory()}) {
        if (entry.path().extension() == ".http" && entry.file_size() > 0) names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    EXPECT_GE(names.size(), 60U);
    return names;
}

inline std::string recorded_response(std::string_view name) {
    return read_file(recordings_directory() / (std::string{name} + ".http"));
}

// Written apart from the product's decoder, for bytes that are known to be well formed (perhaps cut off).
inline std::string dechunk_simply(std::string_view body) {
    std::string payload;
    while (!body.empty()) {
        const auto size = std::stoul(std::string{body.substr(0, body.find('\r'))}, nullptr, 16);
        if (size == 0) break;
        body.remove_prefix(std::min(body.find('\n') + 1, body.size()));
        payload += body.substr(0, size);
        body.remove_prefix(std::min(size + 2, body.size()));
    }
    return payload;
}

// The payload of the last response in the recording (a recording may open with 100 Continue).
inline std::string recorded_payload(std::string_view name) {
    const auto bytes = recorded_response(name);
    auto start = std::string::size_type{0};
    if (bytes.starts_with("HTTP/1.1 100")) start = bytes.find("\r\n\r\n") + 4;
    const auto head_end = bytes.find("\r\n\r\n", start) + 4;
    const auto head = bytes.substr(start, head_end - start);
    const auto body = bytes.substr(head_end);
    return head.find("chunked") == std::string::npos ? body : dechunk_simply(body);
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

// Pieces of random sizes, many of them short.
inline std::vector<std::string> random_pieces(std::string_view bytes, std::mt19937& random) {
    std::vector<std::string> pieces;
    while (!bytes.empty()) {
        const auto longest = std::min<std::size_t>(bytes.size(), random() % 4 == 0 ? 700 : 9);
        const auto size = std::uniform_int_distribution<std::size_t>{1, longest}(random);
        pieces.emplace_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    return pieces;
}

// A new seed for each run, printed by the test that uses it when it fails; WEIR_TEST_SEED repeats a run.
inline std::uint32_t test_seed() {
    if (const char* const given = std::getenv("WEIR_TEST_SEED")) return static_cast<std::uint32_t>(std::stoul(given));
    return std::random_device{}();
}

}  // namespace weir::http::test
