# Defines allocbench::allocators, the allocators as a library for your own kernels. The package's config file includes
# this file.
#
# The package has only sources: headers, and the host half of simt/, which is compiled once in the project that uses it.
#   allocbench::allocators_cuda   for targets whose kernels nvcc compiles; exists if CUDA is an enabled language
#   allocbench::allocators_cpu    for the same kernels on the CPU executor
#   allocbench::allocators        is allocators_cuda if CUDA is enabled, otherwise allocators_cpu
#   allocbench::traces            is also needed for allocbench/traced.hpp; exists if nlohmann_json and zlib are found

include("${CMAKE_CURRENT_LIST_DIR}/AllocbenchArchitectures.cmake")

# `root` contains the folders simt/, traces/ and allocators/. `library` and the further arguments contain
# allocbench/heap.hpp and allocbench/allocators.hpp.
function(allocbench_define_library root library)
  find_path(ALLOCBENCH_RANDOM123 Random123/philox.h)
  mark_as_advanced(ALLOCBENCH_RANDOM123)
  if(NOT ALLOCBENCH_RANDOM123)
    message(FATAL_ERROR "allocbench: the header Random123/philox.h is missing. Install it (Debian: librandom123-dev), or set "
                        "ALLOCBENCH_RANDOM123 to the folder that has Random123/")
  endif()
  add_library(allocbench::library_headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(allocbench::library_headers INTERFACE "${root}" "${library}" ${ARGN} "${ALLOCBENCH_RANDOM123}")
  # These are flags, because CMake 3.25.1 does not know CUDA C++20 and would apply a standard to both languages.
  target_compile_options(allocbench::library_headers INTERFACE
    -std=c++20 "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>")

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(CUDA IN_LIST languages)
    allocbench_define_cuda_library("${root}")
    set(best cuda)
  else()
    set(best cpu)
  endif()
  allocbench_define_cpu_library("${root}")
  add_library(allocbench::allocators INTERFACE IMPORTED GLOBAL)
  target_link_libraries(allocbench::allocators INTERFACE allocbench::allocators_${best})
  allocbench_define_traces("${root}")
endfunction()

function(allocbench_define_traces root)
  find_package(nlohmann_json 3.11 QUIET)
  find_package(ZLIB QUIET)
  if(NOT TARGET nlohmann_json::nlohmann_json OR NOT TARGET ZLIB::ZLIB)
    return()  # most programs record nothing
  endif()
  file(GLOB sources "${root}/traces/*.cpp")
  add_library(allocbench_library_traces STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(allocbench_library_traces PUBLIC "${root}")
  target_compile_features(allocbench_library_traces PUBLIC cxx_std_20)
  target_link_libraries(allocbench_library_traces PRIVATE nlohmann_json::nlohmann_json ZLIB::ZLIB)
  add_library(allocbench::traces INTERFACE IMPORTED GLOBAL)
  target_link_libraries(allocbench::traces INTERFACE allocbench_library_traces)
endfunction()

function(allocbench_define_cuda_library root)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
    message(FATAL_ERROR "allocbench needs a CUDA toolkit of 12.4 or newer; ${CMAKE_CUDA_COMPILER} is ${CMAKE_CUDA_COMPILER_VERSION}")
  endif()
  allocbench_check_architectures("${CMAKE_CUDA_ARCHITECTURES}")
  find_package(CUDAToolkit REQUIRED)
  add_library(allocbench_library_simt_cuda STATIC EXCLUDE_FROM_ALL "${root}/simt/cuda/hold.cu" "${root}/simt/cuda/host.cu"
    "${root}/simt/cuda/reservation.cu")
  target_link_libraries(allocbench_library_simt_cuda PUBLIC allocbench::library_headers CUDA::cudart_static ${CMAKE_DL_LIBS})
  add_library(allocbench::allocators_cuda INTERFACE IMPORTED GLOBAL)
  target_link_libraries(allocbench::allocators_cuda INTERFACE allocbench_library_simt_cuda)
  # Host files of a CUDA program include the same headers.
  target_compile_definitions(allocbench::allocators_cuda INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SIMT_HOST_OF_CUDA=1>")
endfunction()

function(allocbench_define_cpu_library root)
  find_package(Boost 1.74 QUIET COMPONENTS context)
  find_package(Threads QUIET)
  if(NOT TARGET Boost::context OR NOT TARGET Threads::Threads)
    return()  # a program for a GPU does not need them
  endif()
  file(GLOB sources "${root}/simt/cpu/*.cpp" "${root}/simt/cpu/search/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/(lane_order|races)\\.cpp$")  # these files belong to the race build
  add_library(allocbench_library_simt_cpu STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(allocbench_library_simt_cpu PUBLIC allocbench::library_headers Boost::context Threads::Threads)
  add_library(allocbench::allocators_cpu INTERFACE IMPORTED GLOBAL)
  target_link_libraries(allocbench::allocators_cpu INTERFACE allocbench_library_simt_cpu)
endfunction()
