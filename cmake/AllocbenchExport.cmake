# Lets another project compile plug-ins for the workers of this build, by find_package(allocbench) with allocbench_DIR
# set to this build folder. The project links none of our libraries: a plug-in finds its functions in the worker that
# loads it.

set(exported allocbench_flags)
foreach(variant IN ITEMS cpu cuda check tsan)
  if(TARGET allocbench_plugin_${variant})
    list(APPEND exported allocbench_plugin_${variant})
  endif()
endforeach()
if(TARGET simt_races_flags)
  list(APPEND exported simt_races_flags)
endif()

export(TARGETS ${exported} FILE "${CMAKE_BINARY_DIR}/allocbenchTargets.cmake")
configure_file("${CMAKE_CURRENT_LIST_DIR}/allocbenchConfig.cmake.in" "${CMAKE_BINARY_DIR}/allocbenchConfig.cmake" @ONLY)
