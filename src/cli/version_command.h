// weir version: what this binary is made of.
#pragma once

#include <cstdio>

namespace weir::cli {

void print_version(std::FILE* out);

}  // namespace weir::cli
