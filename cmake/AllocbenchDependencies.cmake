# Finds the libraries that tools/install-dependencies.sh installs from Debian's packages. allocbenchConfig.cmake also
# reads this file.

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(benchmark 1.7 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
if(ALLOCBENCH_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
# Allocators also include this header. A folder that compilers search anyway must not be named, because that would
# change the order of folders.
if(TARGET allocbench_flags AND NOT RANDOM123_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  target_include_directories(allocbench_flags SYSTEM INTERFACE "${RANDOM123_INCLUDE_DIR}")
endif()
