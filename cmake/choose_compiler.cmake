# Picks clang++ when nobody chose a compiler, so that a plain `cmake -S . -B build` works on Debian 12,
# whose default `c++` is a compiler that check_compiler.cmake refuses.
if(NOT CMAKE_CXX_COMPILER AND "$ENV{CXX}" STREQUAL "")
  find_program(WEIR_CLANG NAMES clang++-19 clang++-20 clang++-21 clang++)
  if(WEIR_CLANG)
    set(CMAKE_CXX_COMPILER ${WEIR_CLANG})
  endif()
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
