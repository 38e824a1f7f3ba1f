# SPDX-License-Identifier: Apache-2.0
# One library per folder, with the links that the design allows and no others; its tests stand beside its sources.

add_library(tench_flags INTERFACE)
target_include_directories(tench_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
# Contraction into FMA would make the generated weights differ from machine to machine.
target_compile_options(tench_flags INTERFACE -Wall -Wextra -Wshadow -Werror=return-type -ffp-contract=off
                                             -fno-omit-frame-pointer -g1)
if(TENCH_SANITIZE)
  target_compile_options(tench_flags INTERFACE -fsanitize=${TENCH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(tench_flags INTERFACE -fsanitize=${TENCH_SANITIZE})
endif()

# tench_library(NAME LINKS a b …): src/NAME as the static library tench_NAME, and tench_NAME_test from its *_test.cc.
function(tench_library name)
  cmake_parse_arguments(ARG "" "" "LINKS;TEST_LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(tench_${name} STATIC ${sources})
    target_link_libraries(tench_${name} PUBLIC tench_flags ${ARG_LINKS})
  else()
    add_library(tench_${name} INTERFACE)
    target_link_libraries(tench_${name} INTERFACE tench_flags ${ARG_LINKS})
  endif()
  if(TENCH_TESTS AND tests)
    tench_test(tench_${name}_test SOURCES ${tests} LINKS tench_${name} ${ARG_TEST_LINKS})
  endif()
endfunction()

# tench_test(NAME SOURCES … LINKS …): a GoogleTest binary, each of its tests known to ctest.
function(tench_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE tench_flags ${ARG_LINKS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             TENCH_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600)
endfunction()

# tench_worker(NAME SOURCES … LINKS …): build/bin/tench-worker-NAME with its manifest beside it.
function(tench_worker name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(tench-worker-${name} ${ARG_SOURCES})
  target_link_libraries(tench-worker-${name} PRIVATE tench_worker ${ARG_LINKS})
  add_dependencies(tench_workers tench-worker-${name})
endfunction()

# tench_framework(NAME LINKS …): a worker's folder: all but main.cc as the library tench_NAME, the worker itself, and its tests, which may hold it
# against the reference.
function(tench_framework name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(tench_${name} STATIC ${sources})
  target_link_libraries(tench_${name} PUBLIC tench_worker ${ARG_LINKS})
  tench_worker(${name} SOURCES main.cc LINKS tench_${name})
  if(TENCH_TESTS AND tests)
    tench_test(tench_${name}_test SOURCES ${tests} LINKS tench_${name} tench_reference)
  endif()
endfunction()
