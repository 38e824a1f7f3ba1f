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

# Most of a compile is parsing the same dozen headers: precompiled, they are parsed once. What was compiled with them cannot be
# shared by ccache between folders, so that with a compiler launcher they are left out.
set(precompile ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompile OFF)
endif()
option(TENCH_PRECOMPILE "Precompile the headers that most sources include" ${precompile})
set(TENCH_PRECOMPILED <algorithm> <cmath> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <variant>
                      <vector> <fmt/format.h> <nlohmann/json.hpp>)

# The same reason, and the same exception: without ccache a build is most often somebody's first, and several sources in one compile take a third
# of the time. More in one would leave a core idle at the end. Tests stay apart: their helpers may have the same names.
option(TENCH_UNITY "Compile the sources of a library a dozen at a time" ${precompile})
set(CMAKE_UNITY_BUILD ${TENCH_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
if(TENCH_UNITY)
  # A class hidden in its source looks as if a header held it.
  target_compile_options(tench_flags INTERFACE -Wno-subobject-linkage)
endif()

# tench_waits(TARGET): what waits for files, processes and people gains nothing from the optimiser's second half, and compiles a quarter faster.
function(tench_waits target)
  target_compile_options(${target} PRIVATE -O1)
endfunction()

# tench_precompile(TARGET [HEADERS …]): with HEADERS (or in base) headers of its own, which a target with compiler options of its own needs;
# otherwise those of base.
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

# tench_test(NAME SOURCES … LINKS … [OWN_OPTIONS]): a GoogleTest binary, each of its tests known to ctest. OWN_OPTIONS: its links bring compiler
# options, with which base's precompiled headers do not fit.
function(tench_test name)
  cmake_parse_arguments(ARG "OWN_OPTIONS" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests UNITY_BUILD OFF)
  target_link_libraries(${name} PRIVATE tench_flags ${ARG_LINKS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(NOT ARG_OWN_OPTIONS)
    tench_precompile(${name})
  endif()
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

# tench_framework(NAME [FOLDERS …] LINKS … [PRECOMPILE headers … | OWN]): a worker's folder, and the FOLDERS in it: all but main.cc as the library
# tench_NAME, the worker itself, and its tests, which may compare it with the reference.
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
