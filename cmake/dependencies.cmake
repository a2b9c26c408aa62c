# The libraries that every build needs, found once for all folders. What only an option needs is found where it is used.
find_package(Boost 1.74 CONFIG REQUIRED COMPONENTS context)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)

# libyaml's own CMake package is not part of Debian's.
find_path(LIBYAML_INCLUDE_DIR yaml.h REQUIRED)
find_library(LIBYAML_LIBRARY yaml REQUIRED)
mark_as_advanced(LIBYAML_INCLUDE_DIR LIBYAML_LIBRARY)
add_library(LibYAML::LibYAML UNKNOWN IMPORTED)
set_target_properties(LibYAML::LibYAML PROPERTIES IMPORTED_LOCATION "${LIBYAML_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${LIBYAML_INCLUDE_DIR}")
