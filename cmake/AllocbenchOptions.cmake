# Options, compile flags and output folders of the whole project.

set(ALLOCBENCH_CUDA AUTO CACHE STRING "Build the CUDA worker: AUTO (when nvcc is found), ON (fail without), OFF")
set_property(CACHE ALLOCBENCH_CUDA PROPERTY STRINGS AUTO ON OFF)
set(ALLOCBENCH_SANITIZER "" CACHE STRING "Sanitizers for host code: empty, address (with undefined) or thread")
set_property(CACHE ALLOCBENCH_SANITIZER PROPERTY STRINGS "" address thread)
set(ALLOCBENCH_PEERS "" CACHE STRING "Checkouts of originals to wrap, as name=folder with semicolons between: peers/README.md")
set(ALLOCBENCH_ALLOCATORS "" CACHE STRING "Build these plug-ins of allocators/CMakeLists.txt only (semicolons between); empty: all")
option(ALLOCBENCH_TESTS "Build the tests" ON)
option(ALLOCBENCH_BENCHMARKS "Build the benchmarks of the vocabulary itself" ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Each build tree has its own precompiled headers, so a compiler cache would find nothing in another tree.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(ALLOCBENCH_PLUGIN_FOLDER "${CMAKE_BINARY_DIR}/bin/plugins")

# Every target links this library, and so does code that uses the package.
add_library(allocbench_flags INTERFACE)
target_include_directories(allocbench_flags INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/generated")
# These are flags for both languages, because CMake 3.25.1 does not know CUDA C++20 and would apply a CXX_STANDARD
# property to CUDA, too. simt/common.hpp asserts C++20.
target_compile_options(
  allocbench_flags INTERFACE -std=c++20 "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>")

# Warnings are errors in this project, but not in code that uses it.
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Werror>"
  "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror>")

if(ALLOCBENCH_SANITIZER STREQUAL "address")
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(ALLOCBENCH_SANITIZER STREQUAL "thread")
  set(sanitizer_flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(ALLOCBENCH_SANITIZER)
  message(FATAL_ERROR "ALLOCBENCH_SANITIZER is '${ALLOCBENCH_SANITIZER}'; allowed are empty, address, thread")
endif()
if(sanitizer_flags)
  # GCC 12 reports uninitialised members of std::function in libstdc++'s regex if sanitizers change the inlining.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  target_compile_options(allocbench_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitizer_flags}>)
  target_link_options(allocbench_flags INTERFACE ${sanitizer_flags})
endif()

# A worker recognises its plug-ins by this text. It is a digest of the headers whose types plug-in and worker share,
# behind the worker's name (cmake/plugin_interface.cpp.in). It does not contain the revision, which --describe prints.
set(interface_headers_of_protocol model.hpp parameter.hpp sample.hpp status.hpp)
file(GLOB interface_headers CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/allocators/support/contract/*.hpp" "${CMAKE_CURRENT_SOURCE_DIR}/allocators/support/adaptors/*.hpp"
  "${CMAKE_CURRENT_SOURCE_DIR}/workloads/support/*/*.hpp"
  "${CMAKE_CURRENT_SOURCE_DIR}/check/*.hpp" "${CMAKE_CURRENT_SOURCE_DIR}/simt/*.hpp")
list(TRANSFORM interface_headers_of_protocol PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/protocol/")
list(APPEND interface_headers ${interface_headers_of_protocol})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${interface_headers})
set(interface_digests "")
foreach(header IN LISTS interface_headers)
  file(SHA256 "${header}" digest)
  string(APPEND interface_digests ${digest})
endforeach()
string(SHA256 interface_digest "${interface_digests}")
string(SUBSTRING "${interface_digest}" 0 12 interface_digest)
set(ALLOCBENCH_PLUGIN_INTERFACE
  "${PROJECT_VERSION} ${interface_digest}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
if(ALLOCBENCH_SANITIZER)
  string(APPEND ALLOCBENCH_PLUGIN_INTERFACE ", ${ALLOCBENCH_SANITIZER} sanitizer")
else()
  string(APPEND ALLOCBENCH_PLUGIN_INTERFACE ", no sanitizer")
endif()
