// Runs a command of this module and keeps what it wrote.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

namespace weir::cli::test {

struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
};

inline std::string contents(std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
        text += static_cast<char>(c);
    std::fclose(file);
    return text;
}

// `command(out, err)` returns the exit code.
template <class Command>
Outcome run(Command command) {
    std::FILE* out = std::tmpfile();
    std::FILE* err = std::tmpfile();
    Outcome outcome;
    outcome.code = command(out, err);
    outcome.out = contents(out);
    outcome.err = contents(err);
    return outcome;
}

}  // namespace weir::cli::test
