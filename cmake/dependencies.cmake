# The libraries that every build needs, found once for all folders. What only an option needs is found where it is used.
find_package(Boost 1.74 CONFIG REQUIRED COMPONENTS context)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
include(cmake/loco_sim-libyaml.cmake)
