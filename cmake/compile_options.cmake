# What every target is compiled and linked with.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Release keeps assert() (no NDEBUG): what cannot happen must stop the process, not go on in silence.
# Frame pointers stay for profilers; -g1 gives stack traces with lines at little cost in size.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -D_GLIBCXX_ASSERTIONS")
if(WEIR_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
endif()

add_compile_options(
  -fno-omit-frame-pointer
  -Wall -Wextra -Wpedantic
  -Wconversion -Wsign-conversion -Wdouble-promotion
  -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wold-style-cast -Wcast-align -Wimplicit-fallthrough -Wextra-semi -Wnull-dereference
  -Wunused -Wformat=2 -Wundef
  -Wno-missing-designated-field-initializers)  # a valid default and only the difference: the style guide's idiom
if(WEIR_WERROR)
  add_compile_options(-Werror)
endif()

if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WEIR_SANITIZE})
endif()

# lld of the compiler's own version links several times faster than the default linker.
string(REGEX MATCH "^[0-9]+" WEIR_CLANG_MAJOR ${CMAKE_CXX_COMPILER_VERSION})
find_program(WEIR_LLD NAMES ld.lld-${WEIR_CLANG_MAJOR})
if(WEIR_LLD)
  add_link_options(--ld-path=${WEIR_LLD})
  # In release, programs are optimised across files when they are linked; the unit tests link the same objects without.
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -flto=thin -ffat-lto-objects")
  add_link_options($<$<CONFIG:Release>:-Wl,--fat-lto-objects>)
endif()

# Counts of an earlier run (tools/train) tell the compiler what is hot. They are matched function by function: one that
# has changed since is compiled without. Counts of another version of the compiler may be unreadable.
# Functions of one file are named by its base name: its path differs between checkouts.
set(WEIR_COUNTS ${PROJECT_SOURCE_DIR}/cmake/weir.profdata)
if(WEIR_TRAIN)
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -fprofile-generate")
elseif(WEIR_PROFILE AND EXISTS ${WEIR_COUNTS} AND WEIR_CLANG_MAJOR EQUAL 19)
  add_compile_options(
    "$<$<CONFIG:Release>:-fprofile-use=${WEIR_COUNTS};-Wno-profile-instr-out-of-date;-Wno-profile-instr-unprofiled;-Wno-backend-plugin>")
endif()
add_compile_options("$<$<CONFIG:Release>:SHELL:-mllvm -static-func-full-module-prefix=false>")

find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WEIR_CCACHE})
endif()
