# Lets another project add allocators to this build: find_package(allocbench) with allocbench_DIR = this build folder.

set(exported allocbench_flags allocbench_workloads allocbench_worker_protocol allocbench_worker_host allocbench_check)
foreach(backend IN ITEMS CPU CUDA)
  if(backend STREQUAL "CUDA" AND NOT ALLOCBENCH_WITH_CUDA)
    continue()
  endif()
  string(TOLOWER ${backend} suffix)
<<<<<<< HEAD
  list(APPEND exported simt_${suffix} allocbench_scan_${suffix} allocbench_kd_tree_${suffix} allocbench_worker_core_${suffix} allocbench_worker_backend_${suffix}
       allocbench_worker_main_${suffix})
=======
  list(APPEND exported simt_${suffix} allocbench_scan_${suffix} allocbench_graph_${suffix} allocbench_worker_core_${suffix}
       allocbench_worker_backend_${suffix} allocbench_worker_main_${suffix})
>>>>>>> main
  get_property(ALLOCBENCH_BUILTIN_PLUGINS_${backend} GLOBAL PROPERTY ALLOCBENCH_PLUGINS_${backend})
  foreach(plugin IN LISTS ALLOCBENCH_BUILTIN_PLUGINS_${backend})
    list(APPEND exported allocbench_plugin_${plugin}_${suffix})
  endforeach()
endforeach()
get_property(ALLOCBENCH_BUILTIN_SUBJECTS GLOBAL PROPERTY ALLOCBENCH_SUBJECTS)
foreach(variant IN ITEMS check tsan)
  if(NOT TARGET allocbench_check_search_${variant})
    continue()
  endif()
  list(APPEND exported allocbench_check_search_${variant} allocbench_checker_main_${variant})
  foreach(plugin IN LISTS ALLOCBENCH_BUILTIN_SUBJECTS)
    list(APPEND exported allocbench_plugin_${plugin}_${variant})
  endforeach()
endforeach()
if(TARGET simt_cpu_races)
  list(APPEND exported simt_cpu_races)
endif()

export(TARGETS ${exported} FILE "${CMAKE_BINARY_DIR}/allocbenchTargets.cmake")
configure_file("${CMAKE_CURRENT_LIST_DIR}/allocbenchConfig.cmake.in" "${CMAKE_BINARY_DIR}/allocbenchConfig.cmake" @ONLY)
