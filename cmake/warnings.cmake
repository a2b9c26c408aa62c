# One interface target with the warnings every target of ours is compiled with, and the include root.
add_library(loco_sim_options INTERFACE)
target_include_directories(loco_sim_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(loco_sim_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Werror
  # g++ 12 reports false positives for std containers at -O2 and above
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)

# loco_sim_library(name SOURCES... ) : a static library of ours, its name prefixed with loco_sim_
function(loco_sim_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(loco_sim_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(loco_sim_${name} PUBLIC loco_sim_options ${ARG_DEPENDS})
endfunction()

# loco_sim_test(name SOURCES... DEPENDS... [LONG]) : a Catch2 program, one ctest entry, part of target loco_sim_tests.
# LONG adds a second entry, label "long", that runs the program's test cases tagged [.long]. FIGURES is for programs that
# compare figures, label "figures": what they run is sanitized by others.
function(loco_sim_test name)
  cmake_parse_arguments(ARG "LONG;FIGURES" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE loco_sim_catch_main ${ARG_DEPENDS})
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # it is the libraries that take the time
  add_test(NAME ${name} COMMAND test_${name})
  if(ARG_FIGURES)
    set_tests_properties(${name} PROPERTIES LABELS figures)
  endif()
  if(ARG_LONG)
    add_test(NAME ${name}_long COMMAND test_${name} "[.long]")
    set_tests_properties(${name}_long PROPERTIES LABELS long)
  endif()
  if(NOT TARGET loco_sim_tests)
    add_custom_target(loco_sim_tests)
  endif()
  add_dependencies(loco_sim_tests test_${name})
endfunction()
