# Flags and units for a back end's host code and plug-ins.

# Sets `result` to a unit that compiles `source` for a back end. `source` is a host file that uses simt/ and may define
# kernels. The unit is the file itself for the CPU executor, and a generated .cu file that includes it for CUDA.
function(allocbench_backend_unit result suffix source)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
  if(suffix STREQUAL "cuda")
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.cu")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${name}\"\n" @ONLY)
    set(path "${unit}")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# Use it for targets whose .cpp files are host code of the CUDA back end without kernels.
function(allocbench_host_of_cuda target)
  target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SIMT_HOST_OF_CUDA=1>")
endfunction()

# allocbench::plugin_<variant> has the include path and flags for plug-in units. The program that loads a plug-in
# contains the functions.
function(allocbench_plugin_flags variant)
  add_library(allocbench_plugin_${variant} INTERFACE)
  add_library(allocbench::plugin_${variant} ALIAS allocbench_plugin_${variant})
  target_link_libraries(allocbench_plugin_${variant} INTERFACE allocbench_flags ${ARGN})
endfunction()
