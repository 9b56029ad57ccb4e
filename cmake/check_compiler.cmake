# Refuses compilers that are known to miscompile coroutines, or too old to have been tried.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR
    "Weir needs clang++ 19 or newer; this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} "
    "(${CMAKE_CXX_COMPILER}).\n"
    "The reason: Weir is built on C++20 coroutines, and g++ 12.2 (Debian 12's default) miscompiles ordinary "
    "coroutine code: of 115 small programs 32 freed memory twice, never resumed, trapped or did not compile. "
    "clang++ 19 on the same standard library ran all of them correctly. See docs/decisions/compiler.md.\n"
    "What to do: run tools/install-deps, remove this build directory, and configure with a preset "
    "(cmake --preset release) or with -DCMAKE_CXX_COMPILER=clang++-19.")
endif()
