# The repository's own rules, as tests; each checker is itself tested against faults it must find.
set(tools ${PROJECT_SOURCE_DIR}/tools)
add_test(NAME tools.check_layers COMMAND ${tools}/check-layers ${PROJECT_SOURCE_DIR})
add_test(NAME tools.check_layers_finds_each_violation COMMAND ${tools}/check-layers-test)
add_test(NAME tools.check_style COMMAND ${tools}/check-style ${PROJECT_SOURCE_DIR})
add_test(NAME tools.check_style_finds_each_violation COMMAND ${tools}/check-style-test)
add_test(NAME tools.layer_picture_is_current COMMAND ${tools}/draw-layers --check)
add_test(NAME tools.count_tests_counts_right COMMAND ${tools}/count-tests-test)

# With the include view of base, the lowest module, no other module's header can be found.
add_test(NAME tools.undeclared_include_does_not_compile
  COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -fsyntax-only -I ${PROJECT_BINARY_DIR}/include/base
          ${PROJECT_SOURCE_DIR}/tools/fixtures/undeclared_include.cpp)
set_tests_properties(tools.undeclared_include_does_not_compile PROPERTIES
  PASS_REGULAR_EXPRESSION "'model/reason.h' file not found")
set_tests_properties(tools.check_layers tools.check_layers_finds_each_violation tools.check_style
  tools.check_style_finds_each_violation tools.layer_picture_is_current tools.count_tests_counts_right
  tools.undeclared_include_does_not_compile
  PROPERTIES TIMEOUT 60 LABELS tools)
