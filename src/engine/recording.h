// For tests only: recorded answers of a real engine, from tests/data/recordings. Aborts the test when one is missing.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace weir::engine {

struct Recording {
    int status = 0;
    std::string body;  // of answers with Content-Length
};

inline Recording recording(const std::string& name) {
    std::ifstream file{std::string{WEIR_TEST_DATA} + "/recordings/" + name + ".http", std::ios::binary};
    if (!file) throw std::runtime_error{"no recording " + name};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    const auto body = bytes.find("\r\n\r\n");
    if (!bytes.starts_with("HTTP/1.1 ") || body == std::string::npos)
        throw std::runtime_error{"not an answer: " + name};
    return {.status = std::stoi(bytes.substr(9, 3)), .body = bytes.substr(body + 4)};
}

}  // namespace weir::engine
