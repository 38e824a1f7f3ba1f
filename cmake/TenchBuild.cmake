# SPDX-License-Identifier: Apache-2.0
# One library per folder, with the links that the include table of docs/architecture.md allows. The
# tests of a folder are beside its sources.

add_library(tench_flags INTERFACE)
target_include_directories(tench_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
# Contraction into FMA would make the generated weights depend on the machine.
target_compile_options(tench_flags INTERFACE -Wall -Wextra -Wshadow -Werror=return-type
                                             -ffp-contract=off -fno-omit-frame-pointer -g1)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Loops have `#pragma GCC ivdep`, which clang does not know.
  target_compile_options(tench_flags INTERFACE -Wno-unknown-pragmas)
endif()
if(TENCH_WERROR)
  target_compile_options(tench_flags INTERFACE -Werror)
endif()
# Messages and debug information name sources relative to the root of the tree, so that an installed
# program contains no path of the build machine, and two checkouts give the same bits.
set(TENCH_PREFIX_MAP -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_compile_options(tench_flags INTERFACE ${TENCH_PREFIX_MAP})
if(TENCH_SANITIZE)
  target_compile_options(tench_flags INTERFACE -fsanitize=${TENCH_SANITIZE}
                                               -fno-sanitize-recover=all)
  target_link_options(tench_flags INTERFACE -fsanitize=${TENCH_SANITIZE})
endif()

# Most of a compile is parsing the same dozen headers, so they are precompiled. ccache cannot share
# objects compiled with them between folders, so a compiler launcher switches them off.
set(precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile OFF)
endif()
option(TENCH_PRECOMPILE "Precompile the headers that most sources include" ${precompile})
set(TENCH_PRECOMPILED
    <algorithm> <cmath> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string>
    <string_view> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)

# Without ccache a build is most often a first build, and a unity build takes a third of its time.
# A bigger batch would leave a core idle at the end. Each test file has a namespace of its own, since
# the helper functions of several may share a name.
option(TENCH_UNITY "Compile the sources of a library or a test a dozen at a time" ${precompile})
set(CMAKE_UNITY_BUILD ${TENCH_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
if(TENCH_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # In a unity build, a class in an anonymous namespace appears to be in a header.
  target_compile_options(tench_flags INTERFACE -Wno-subobject-linkage)
endif()

# Timeout of one test in seconds, by label. The slowest test of a label needs at most a quarter of
# it on an idle two-core machine. Sanitizers slow tests down by a factor of up to five.
set(tench_timeout_unit 60)
set(tench_timeout_contract 240)
set(tench_timeout_parity 300)
set(tench_timeout_e2e 120)
set(tench_timeout_browser 300)
set(tench_timeout_factor 1)
if(TENCH_SANITIZE)
  set(tench_timeout_factor 5)
endif()

# tench_test_properties(LABEL OUTPUT): the properties of a test with that label, for
# set_tests_properties or gtest_discover_tests.
function(tench_test_properties label output)
  if(NOT DEFINED tench_timeout_${label})
    message(FATAL_ERROR "no such test label: ${label} (unit, contract, parity, e2e, browser)")
  endif()
  math(EXPR seconds "${tench_timeout_${label}} * ${tench_timeout_factor}")
  set(${output} LABELS ${label} TIMEOUT ${seconds} PARENT_SCOPE)
endfunction()

# tench_waits(TARGET): a library that waits for files and processes gains nothing from -O2, and
# compiles a quarter faster at -O1.
function(tench_waits target)
  target_compile_options(${target} PRIVATE -O1)
endfunction()

# tench_precompile(TARGET [OWN] [HEADERS …]): with OWN or HEADERS the target gets its own
# precompiled headers, which a target with its own compiler options needs. Otherwise it reuses
# base's.
function(tench_precompile target)
  cmake_parse_arguments(ARG "OWN" "" "HEADERS" ${ARGN})
  if(NOT TENCH_PRECOMPILE)
    return()
  endif()
  if(ARG_OWN OR ARG_HEADERS)
    target_precompile_headers(${target} PRIVATE ${TENCH_PRECOMPILED} ${ARG_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM tench_base)
  endif()
endfunction()

# tench_library(NAME LINKS a b …): the sources of a folder as the static library tench_NAME, and
# tench_NAME_test from its *_test.cc.
function(tench_library name)
  cmake_parse_arguments(ARG "" "" "LINKS;TEST_LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(tench_${name} STATIC ${sources})
    target_link_libraries(tench_${name} PUBLIC tench_flags ${ARG_LINKS})
    if(name STREQUAL "base")
      tench_precompile(tench_base OWN)
    else()
      tench_precompile(tench_${name})
    endif()
  else()
    add_library(tench_${name} INTERFACE)
    target_link_libraries(tench_${name} INTERFACE tench_flags ${ARG_LINKS})
  endif()
  if(TENCH_TESTS AND tests)
    tench_test(tench_${name}_test SOURCES ${tests} LINKS tench_${name} ${ARG_TEST_LINKS})
  endif()
endfunction()

# tench_precompile_test(TARGET): tests share precompiled headers with GoogleTest in them. Their own
# code runs once, so it is not optimised: most of a test's compile time is optimising assertions.
# For the same reason the undefined sanitizer leaves out its checks of every member access, a third
# of a test's compile; the address sanitizer finds null pointers as well.
set(tench_test_options -O0)
if(TENCH_SANITIZE MATCHES "address,undefined")
  list(APPEND tench_test_options -fno-sanitize=null,vptr,alignment)
endif()
function(tench_precompile_test target)
  target_compile_options(${target} PRIVATE ${tench_test_options})
  if(NOT TENCH_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET tench_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cc "")
    add_library(tench_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cc)
    target_link_libraries(tench_test_headers PRIVATE tench_flags fmt::fmt GTest::gtest GTest::gmock)
    target_compile_options(tench_test_headers PRIVATE ${tench_test_options})
    target_precompile_headers(tench_test_headers PRIVATE ${TENCH_PRECOMPILED} <gmock/gmock.h>
                                                         <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM tench_test_headers)
endfunction()

# tench_test(NAME SOURCES … LINKS … [LABEL label] [OWN_OPTIONS]): a GoogleTest binary, each of its
# tests known to ctest. Without LABEL its tests are `parity` if their name has "Parity" in it, else
# `unit`. OWN_OPTIONS: its links bring compiler options that base's precompiled headers lack.
function(tench_test name)
  cmake_parse_arguments(ARG "OWN_OPTIONS" "LABEL" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE tench_flags ${ARG_LINKS}
                                        GTest::gtest GTest::gmock GTest::gtest_main)
  if(NOT ARG_OWN_OPTIONS)
    tench_precompile_test(${name})
  endif()
  target_compile_definitions(${name} PRIVATE TENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             TENCH_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  if(ARG_LABEL)
    tench_test_properties(${ARG_LABEL} properties)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
  else()
    tench_test_properties(unit properties)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_FILTER -*Parity*
                         PROPERTIES ${properties})
    tench_test_properties(parity properties)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_FILTER *Parity*
                         PROPERTIES ${properties})
  endif()
endfunction()

# tench_worker(NAME SOURCES … LINKS …): build/bin/tench-worker-NAME with its manifest beside it.
function(tench_worker name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(tench-worker-${name} ${ARG_SOURCES})
  target_link_libraries(tench-worker-${name} PRIVATE tench_worker ${ARG_LINKS})
  # The same relative path in an installation and in a build folder, where it is a link to
  # deps/fetched.
  set_target_properties(tench-worker-${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
                                                        INSTALL_RPATH "$ORIGIN/../lib/tench/${name}/lib")
  add_dependencies(tench_workers tench-worker-${name})
endfunction()

# tench_framework(NAME [FOLDERS …] LINKS … [PRECOMPILE headers … | OWN]): a worker's folder and the
# FOLDERS in it. All but main.cc is the library tench_NAME; then follow the worker itself and its
# tests, which may compare it with the reference.
function(tench_framework name)
  cmake_parse_arguments(ARG "OWN" "" "FOLDERS;LINKS;PRECOMPILE" ${ARGN})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(folder IN LISTS ARG_FOLDERS)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(tench_${name} STATIC ${sources})
  target_link_libraries(tench_${name} PUBLIC tench_worker ${ARG_LINKS})
  if(ARG_OWN)
    tench_precompile(tench_${name} OWN)
  else()
    tench_precompile(tench_${name} HEADERS ${ARG_PRECOMPILE})
  endif()
  tench_worker(${name} SOURCES main.cc LINKS tench_${name})
  if(TENCH_TESTS AND tests)
    tench_test(tench_${name}_test SOURCES ${tests} LINKS tench_${name} tench_reference OWN_OPTIONS)
  endif()
endfunction()
