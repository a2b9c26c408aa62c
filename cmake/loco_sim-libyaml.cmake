# LibYAML::LibYAML: libyaml's own CMake package is not part of Debian's.
if(NOT TARGET LibYAML::LibYAML)
  find_path(LIBYAML_INCLUDE_DIR yaml.h REQUIRED)
  find_library(LIBYAML_LIBRARY yaml REQUIRED)
  mark_as_advanced(LIBYAML_INCLUDE_DIR LIBYAML_LIBRARY)
  add_library(LibYAML::LibYAML UNKNOWN IMPORTED)
  set_target_properties(LibYAML::LibYAML PROPERTIES IMPORTED_LOCATION "${LIBYAML_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LIBYAML_INCLUDE_DIR}")
endif()
