# The warnings that everything of ours is compiled with. They are errors where we test: another compiler's new warning is no
# reason that a user cannot build.
option(LOCO_SIM_WERROR "Warnings are errors" OFF)
add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual $<$<BOOL:${LOCO_SIM_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it reports false positives for std containers at -O2 and above
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -fpch-preprocess  # ccache asks for this one
    --param=ggc-min-heapsize=1000000)  # KiB: no file needs as much, so the compiler's garbage is not looked for
endif()

# What all targets of ours, and who uses them, have in common: the include root and the language.
add_library(loco_sim_options INTERFACE)
target_include_directories(loco_sim_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/loco-sim>)
target_compile_features(loco_sim_options INTERFACE cxx_std_20)

# The standard library's headers, parsed once for all libraries and, with Catch2, once for all tests: a precompiled header
# fits where the compiler's flags are the same. Preset tidy has none, so that every file includes what it needs.
set(loco_sim_std_headers <algorithm> <array> <cstdint> <deque> <functional> <map> <memory> <optional> <set> <span> <sstream>
  <stdexcept> <string> <string_view> <tuple> <unordered_map> <utility> <vector>)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/empty.cpp CONTENT "")
add_library(loco_sim_headers OBJECT ${PROJECT_BINARY_DIR}/empty.cpp)
target_link_libraries(loco_sim_headers PRIVATE loco_sim_options)
target_precompile_headers(loco_sim_headers PRIVATE ${loco_sim_std_headers})

# Code that takes no part of a run's time, measured: half of what it takes to compile was the optimiser
# (docs/decisions/what-a-test-run-takes.md).
function(loco_sim_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()
add_library(loco_sim_cold_headers OBJECT ${PROJECT_BINARY_DIR}/empty.cpp)
target_link_libraries(loco_sim_cold_headers PRIVATE loco_sim_options)
loco_sim_cold(loco_sim_cold_headers)
target_precompile_headers(loco_sim_cold_headers PRIVATE ${loco_sim_std_headers})

# loco_sim_program_headers(target headers) : a program is compiled as these are, which libraries have in common
function(loco_sim_program_headers target headers)
  target_compile_options(${target} PRIVATE -fPIC)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# loco_sim_library(name SOURCES... DEPENDS... [COLD]) : a static library of ours, its name prefixed with loco_sim_
function(loco_sim_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(loco_sim_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(loco_sim_${name} PUBLIC loco_sim_options ${ARG_DEPENDS})
  if(ARG_COLD)
    loco_sim_cold(loco_sim_${name})
    target_precompile_headers(loco_sim_${name} REUSE_FROM loco_sim_cold_headers)
  else()
    target_precompile_headers(loco_sim_${name} REUSE_FROM loco_sim_headers)
  endif()
  set_target_properties(loco_sim_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY loco_sim_libraries loco_sim_${name})
endfunction()

# loco_sim_test_options(target) : how tests are compiled, all of them alike
function(loco_sim_test_options target)
  target_compile_options(${target} PRIVATE -O0)  # it is the libraries that take the time
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as the compiler likes, in programs and libraries
endfunction()

# loco_sim_test(name SOURCES... DEPENDS... [LONG]) : a Catch2 program, one ctest entry, part of target loco_sim_tests.
# LONG adds a second entry, label "long", that runs the program's test cases tagged [.long].
# SECONDS: how long it takes, where that is long: the longest is the first to start, so that none is left over at the end.
# THREADS, label "threads": it has threads of the system, for the thread sanitizer.
# MACHINE, label "machine": the engine, the fabric and the NIC by themselves. ./dev test has these programs sanitized and
# builds them in no other way (target loco_sim_machine_tests, no part of `all` with LOCO_SIM_MACHINE_APART); with --long and
# in CI all are built both ways.
# Test cases tagged [search] look through many seeds for an outcome, those tagged [figures] run long enough to compare
# figures: these are not sanitized either.
option(LOCO_SIM_MACHINE_APART "The machine's test programs, and tools of tests, are no part of `all`" OFF)
add_custom_target(loco_sim_tests)
add_custom_target(loco_sim_machine_tests)
set(loco_sim_selected_tests "")
if(CMAKE_BUILD_TYPE STREQUAL "Sanitize" OR CMAKE_BUILD_TYPE STREQUAL "Threads")
  set(loco_sim_selected_tests "~[search]~[figures]~[.]")  # hidden ones stay hidden
endif()
function(loco_sim_test name)
  cmake_parse_arguments(ARG "LONG;THREADS;MACHINE" "SECONDS" "SOURCES;DEPENDS" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  if(ARG_THREADS)  # inline functions are taken from what comes first: Catch2's do not tell the thread sanitizer what they do
    target_link_libraries(test_${name} PRIVATE loco_sim_options ${ARG_DEPENDS} Catch2::Catch2WithMain)
  else()
    target_link_libraries(test_${name} PRIVATE loco_sim_options Catch2::Catch2WithMain ${ARG_DEPENDS})
  endif()
  loco_sim_test_options(test_${name})
  target_precompile_headers(test_${name} REUSE_FROM loco_sim_test_headers)
  add_test(NAME ${name} COMMAND test_${name} ${loco_sim_selected_tests})
  set(labels "")
  foreach(label THREADS MACHINE)
    if(ARG_${label})
      string(TOLOWER ${label} label)
      list(APPEND labels ${label})
    endif()
  endforeach()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  if(ARG_SECONDS)
    set_tests_properties(${name} PROPERTIES COST ${ARG_SECONDS})
  endif()
  if(ARG_LONG)
    add_test(NAME ${name}_long COMMAND test_${name} "[.long]")
    set_tests_properties(${name}_long PROPERTIES LABELS long)
  endif()
  add_dependencies(loco_sim_tests test_${name})
  if(ARG_MACHINE)
    add_dependencies(loco_sim_machine_tests test_${name})
    set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL ${LOCO_SIM_MACHINE_APART})
  endif()
endfunction()

# loco_sim_test_tool(target) : a program that no test runs: built with --long and in CI
function(loco_sim_test_tool target)
  loco_sim_program_headers(${target} loco_sim_headers)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ${LOCO_SIM_MACHINE_APART})
  add_dependencies(loco_sim_tests ${target})
endfunction()
