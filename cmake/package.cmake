# What other CMake projects get: find_package(loco_sim), from where it was installed or from this build tree.
#   loco_sim::loco   LOCO programs on a simulated cluster, checked   (loco_sim/loco.hpp)
#   loco_sim::verbs  verbs programs on simulated hosts               (loco_sim/verbs.hpp)
# and each library by its own name: loco_sim::nic_model, loco_sim::fabric, loco_sim::model, ...
include(CMakePackageConfigHelpers)

# loco_sim_package_target(name LIBRARIES...) : a target that stands for several libraries
function(loco_sim_package_target name)
  add_library(loco_sim_for_${name} INTERFACE)
  target_link_libraries(loco_sim_for_${name} INTERFACE ${ARGN})
  set_target_properties(loco_sim_for_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(loco_sim::${name} ALIAS loco_sim_for_${name})
endfunction()

# the libraries that carry these names themselves are called otherwise outside
set_target_properties(loco_sim_loco PROPERTIES EXPORT_NAME channels)
set_target_properties(loco_sim_verbs PROPERTIES EXPORT_NAME verbs_threads)
loco_sim_package_target(loco loco_sim_loco loco_sim_transport loco_sim_scenario loco_sim_model)
loco_sim_package_target(verbs loco_sim_verbs loco_sim_verbs_model loco_sim_scenario)

get_property(loco_sim_libraries GLOBAL PROPERTY loco_sim_libraries)
add_custom_target(loco_sim_package DEPENDS loco-sim ${loco_sim_libraries})  # what the package is made of
set(loco_sim_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/loco_sim)
install(TARGETS ${loco_sim_libraries} loco_sim_options loco_sim_for_loco loco_sim_for_verbs EXPORT loco_sim-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/loco-sim COMPONENT package)
install(EXPORT loco_sim-targets NAMESPACE loco_sim:: DESTINATION ${loco_sim_package_dir} COMPONENT package)
install(DIRECTORY text yaml rdma sim options fabric nic_model trace hosts model verify loco_sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/loco-sim COMPONENT package
  FILES_MATCHING PATTERN *.hpp PATTERN cli EXCLUDE)
install(DIRECTORY examples/template DESTINATION ${CMAKE_INSTALL_DATADIR}/loco-sim/examples COMPONENT package)

set(loco_sim_config ${PROJECT_BINARY_DIR}/lib/cmake/loco_sim)  # where the build tree is looked into, too
configure_package_config_file(cmake/loco_sim-config.cmake.in ${loco_sim_config}/loco_sim-config.cmake
  INSTALL_DESTINATION ${loco_sim_package_dir})
write_basic_package_version_file(${loco_sim_config}/loco_sim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${loco_sim_config}/loco_sim-config.cmake ${loco_sim_config}/loco_sim-config-version.cmake
  cmake/loco_sim-libyaml.cmake DESTINATION ${loco_sim_package_dir} COMPONENT package)
export(EXPORT loco_sim-targets NAMESPACE loco_sim:: FILE ${loco_sim_config}/loco_sim-targets.cmake)
configure_file(cmake/loco_sim-libyaml.cmake ${loco_sim_config}/loco_sim-libyaml.cmake COPYONLY)
