# find_package(loco): LOCO without the simulator, for programs on real networks, from where it was installed (component
# `loco`) or from this build tree.
#   loco::loco     the channels, and running a program on a network    (loco_sim/launch/launch.hpp)
add_library(loco_for_networks INTERFACE)
target_link_libraries(loco_for_networks INTERFACE loco_sim_launch loco_sim_process loco_sim_loco)
set_target_properties(loco_for_networks PROPERTIES EXPORT_NAME loco)

set(loco_libraries loco_sim_loco loco_sim_process loco_sim_launch)
foreach(network loco_verbs loco_libfabric)
  if(TARGET loco_sim_${network})
    list(APPEND loco_libraries loco_sim_${network})
  endif()
endforeach()
add_custom_target(loco_package DEPENDS ${loco_libraries})  # what the package is made of
set(loco_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/loco)
install(TARGETS ${loco_libraries} loco_sim_options loco_for_networks EXPORT loco-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/loco-sim COMPONENT loco)
install(EXPORT loco-targets NAMESPACE loco:: DESTINATION ${loco_package_dir} COMPONENT loco)
install(DIRECTORY loco_sim/loco loco_sim/process loco_sim/libibverbs loco_sim/libfabric loco_sim/launch
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/loco-sim/loco_sim COMPONENT loco FILES_MATCHING PATTERN *.hpp)
install(DIRECTORY rdma DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/loco-sim COMPONENT loco FILES_MATCHING PATTERN *.hpp)
install(FILES trace/call_info.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/loco-sim/trace COMPONENT loco)

set(loco_config ${PROJECT_BINARY_DIR}/lib/cmake/loco)  # where the build tree is looked into, too
configure_package_config_file(cmake/loco-config.cmake.in ${loco_config}/loco-config.cmake
  INSTALL_DESTINATION ${loco_package_dir})
write_basic_package_version_file(${loco_config}/loco-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${loco_config}/loco-config.cmake ${loco_config}/loco-config-version.cmake DESTINATION ${loco_package_dir}
  COMPONENT loco)
export(EXPORT loco-targets NAMESPACE loco:: FILE ${loco_config}/loco-targets.cmake)
