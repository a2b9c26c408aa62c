# The libraries that every build needs, found once for all folders. What only an option needs is found where it is used.
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp)  # older versions of yaml-cpp have no namespace
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
