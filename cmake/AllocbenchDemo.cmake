# The target `demo` builds the front end, the worker of the best back end of this machine and the plug-ins that
# configs/smoke.json names. The first figure waits for nothing else.

set(demo_variant cpu)
if(ALLOCBENCH_WITH_GPU)
  set(demo_variant cuda)
endif()

set(config "${PROJECT_SOURCE_DIR}/configs/smoke.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${config}")
file(READ "${config}" smoke)
string(JSON count LENGTH "${smoke}" allocators)
math(EXPR last "${count} - 1")
add_custom_target(demo)
add_dependencies(demo allocbench allocbench-worker-${demo_variant})
foreach(i RANGE ${last})
  string(JSON allocator GET "${smoke}" allocators ${i})
  add_dependencies(demo allocbench_plugin_${allocator}_${demo_variant})
endforeach()
message(STATUS "Demo: configs/smoke.json on the ${demo_variant} back end")
