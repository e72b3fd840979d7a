# Lets another project add allocators to this build: find_package(allocbench) with allocbench_DIR = this build folder.

set(exported allocbench_flags allocbench_workloads allocbench_worker_host)
foreach(backend IN ITEMS CPU CUDA)
  if(backend STREQUAL "CUDA" AND NOT ALLOCBENCH_WITH_CUDA)
    continue()
  endif()
  string(TOLOWER ${backend} suffix)
  list(APPEND exported simt_${suffix} allocbench_worker_core_${suffix} allocbench_worker_backend_${suffix}
       allocbench_worker_main_${suffix})
  get_property(ALLOCBENCH_BUILTIN_PLUGINS_${backend} GLOBAL PROPERTY ALLOCBENCH_PLUGINS_${backend})
  foreach(plugin IN LISTS ALLOCBENCH_BUILTIN_PLUGINS_${backend})
    list(APPEND exported allocbench_plugin_${plugin}_${suffix})
  endforeach()
endforeach()

export(TARGETS ${exported} FILE "${CMAKE_BINARY_DIR}/allocbenchTargets.cmake")
configure_file("${CMAKE_CURRENT_LIST_DIR}/allocbenchConfig.cmake.in" "${CMAKE_BINARY_DIR}/allocbenchConfig.cmake" @ONLY)
