# Sets ALLOCBENCH_WITH_CUDA, and ALLOCBENCH_WITH_GPU: is there nvcc, and a GPU too? A machine without nvcc builds everything for the CPU
# back end and is told so.

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

# The GPU of this machine when there is one, else Hopper, whose reference results the project keeps. No PTX: it would be
# three quarters of a packed plug-in, and a driver that compiles it would measure other code than nvcc's.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  if(ALLOCBENCH_WITH_GPU)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 90-real)
  endif()
endif()
set(CMAKE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}" CACHE STRING "CUDA architectures")
enable_language(CUDA)
# nvcc's -O is for host code alone; device code is optimised anyway. Host code only launches and waits, and at -O3 it is half
# of the build time.
set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
# Allocators are inlined into every kernel, so device code is much the same again and again. tools/pack-worker.sh packs it
# smaller than nvcc does, plug-ins together, and code that nvcc packed does not get any smaller.
target_compile_options(allocbench_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--no-compress>)
# Kernels side by side in the assembler, to the same code. nvcc's own --split-compile gives timed kernels other registers.
include(CheckCompilerFlag)
check_compiler_flag(CUDA "-Xptxas=--split-compile=4" ALLOCBENCH_PTXAS_SPLITS)
if(ALLOCBENCH_PTXAS_SPLITS)
  target_compile_options(allocbench_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=--split-compile=4>)
endif()
find_package(CUDAToolkit 12.4 REQUIRED)
set(ALLOCBENCH_WITH_CUDA ON)
message(STATUS "CUDA worker: on, nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
