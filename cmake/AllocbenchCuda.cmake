# Sets ALLOCBENCH_WITH_CUDA if nvcc is found, and ALLOCBENCH_WITH_GPU if there is a GPU, too. Without nvcc, everything
# is built for the CPU back end, and a message says so.

set(ALLOCBENCH_WITH_CUDA OFF)
set(ALLOCBENCH_WITH_GPU OFF)
if(ALLOCBENCH_CUDA STREQUAL "OFF")
  message(STATUS "CUDA worker: off (ALLOCBENCH_CUDA=OFF); the CPU back end is built")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(ALLOCBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ALLOCBENCH_CUDA=ON, but no CUDA compiler was found: put nvcc on PATH or set CMAKE_CUDA_COMPILER")
  endif()
  message(STATUS "CUDA worker: off, no nvcc found; everything is built for the CPU back end")
  return()
endif()

execute_process(COMMAND nvidia-smi --query-gpu=name --format=csv,noheader RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
if(NOT no_gpu)
  set(ALLOCBENCH_WITH_GPU ON)
endif()

# The architecture is that of this machine's GPU or, without a GPU, Hopper, for which the project keeps reference
# results. PTX is left out: it would be three quarters of a packed plug-in, and a driver that compiles it would measure
# other code than nvcc's.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  if(ALLOCBENCH_WITH_GPU)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 90-real)
  endif()
endif()
set(CMAKE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}" CACHE STRING "CUDA architectures")
enable_language(CUDA)
# nvcc's -O applies only to host code; device code is always optimised. Host code only launches and waits. At -O3 it
# would take half of the build time.
set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
# Allocators are inlined into every kernel, so device code has many similar parts. tools/pack-worker.sh packs all
# plug-ins together, which gives smaller files than nvcc's compression. Code that nvcc has compressed does not get
# smaller.
target_compile_options(allocbench_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--no-compress>)
# The assembler handles kernels in parallel and makes the same code. nvcc's own --split-compile changes the registers of
# timed kernels.
include(CheckCompilerFlag)
check_compiler_flag(CUDA "-Xptxas=--split-compile=4" ALLOCBENCH_PTXAS_SPLITS)
if(ALLOCBENCH_PTXAS_SPLITS)
  target_compile_options(allocbench_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=--split-compile=4>)
endif()
find_package(CUDAToolkit 12.4 REQUIRED)
set(ALLOCBENCH_WITH_CUDA ON)
message(STATUS "CUDA worker: on, nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
