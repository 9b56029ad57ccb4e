#include "cli/version_command.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <simdjson.h>
#include <sqlite3.h>

#ifndef WEIR_VERSION
#define WEIR_VERSION "0.1.0"
#endif

namespace weir::cli {

void print_version(std::FILE* out) {
    fmt::print(out, "weir {}\n", WEIR_VERSION);
#ifdef NDEBUG
    fmt::print(out, "build: optimised\n");
#else
    fmt::print(out, "build: with assertions\n");
#endif
    fmt::print(out, "compiler: {}\n", __VERSION__);
    fmt::print(out, "libraries: {}, simdjson {}, SQLite {}, fmt {}.{}.{}\n", OpenSSL_version(OPENSSL_VERSION),
               SIMDJSON_STRINGIFY(SIMDJSON_VERSION), sqlite3_libversion(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
               FMT_VERSION % 100);
}

}  // namespace weir::cli
