# allocbench_add_allocator(): one line per plug-in, inside this project and outside of it.
#
#   allocbench_add_allocator(my_malloc HEADER path/to/my_malloc.hpp [BACKENDS CPU CUDA] [MICRO_TESTS_ONLY]
#                           [INCLUDES <folder>...] [LIBRARIES <target or file>...] [COMPILE_OPTIONS <option>...])
#
# The header registers its types with ALLOCBENCH_REGISTER(my_malloc, ...). A plug-in becomes shared objects, one unit each,
# in a folder that the worker of that name loads at start:
#   plugins/cpu/, plugins/cuda/    my_malloc.so (the allocators, kernels of the micro tests), my_malloc-applications.so
#   plugins/check/, plugins/tsan/  my_malloc.so for `allocbench check`: schedules, races
# These folders lie in ALLOCBENCH_PLUGIN_FOLDER, by default <build>/plugins; in this project build/bin/plugins.
# Nothing else is compiled or linked again for a plug-in. Targets: allocbench_plugin_<plugin>_<folder>, and of all plug-ins
# plugins_<folder>.

set(ALLOCBENCH_TEMPLATE_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "")
if(NOT ALLOCBENCH_PLUGIN_FOLDER)
  set(ALLOCBENCH_PLUGIN_FOLDER "${CMAKE_BINARY_DIR}/plugins")
endif()

# What all units of a variant include before their own allocator and workloads; parsing it takes a third of the compile time
# of a small one. nvcc has no precompiled headers.
function(allocbench_share_plugin_headers target variant)
  if(variant STREQUAL "cuda" OR arg_COMPILE_OPTIONS OR NOT PROJECT_NAME STREQUAL "allocbench")
    return()
  endif()
  set(headers allocbench_plugin_headers_${variant})
  if(NOT TARGET ${headers})
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/plugins/headers_${variant}.cpp")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "// What the plug-ins of this folder share.\n")
    add_library(${headers} OBJECT "${unit}")
    target_link_libraries(${headers} PRIVATE allocbench::plugin_${variant})
    set_target_properties(${headers} PROPERTIES
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(${headers} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(variant STREQUAL "cpu")
      target_precompile_headers(${headers} PRIVATE
        <algorithm> <array> <memory> <optional> <string> <vector>
        "${PROJECT_SOURCE_DIR}/allocators/contract/allocator.hpp"
        "${PROJECT_SOURCE_DIR}/workloads/contract/plugin_part.hpp")
    else()
      target_precompile_headers(${headers} PRIVATE
        <algorithm> <memory> <string> <vector>
        "${PROJECT_SOURCE_DIR}/allocators/contract/allocator.hpp"
        "${PROJECT_SOURCE_DIR}/check/plugin.hpp"
        "${PROJECT_SOURCE_DIR}/check/subject_of.hpp")
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# One shared object: `variant` is the folder, `name` the file, `template` makes its only unit. Reads the arguments of
# allocbench_add_allocator(), which calls it.
function(allocbench_add_plugin_part target variant name template)
  set(extension cpp)
  if(variant STREQUAL "cuda")
    set(extension cu)
  endif()
  # A header of this project by its place in it, so that units of equal trees are equal.
  if(PROJECT_NAME STREQUAL "allocbench")
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/plugins/${target}.${extension}")
  configure_file("${ALLOCBENCH_TEMPLATE_DIR}/${template}" "${unit}" @ONLY)
  add_library(${target} MODULE "${unit}")
  target_link_libraries(${target} PRIVATE allocbench::plugin_${variant} ${arg_LIBRARIES})
  target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX ".so" OUTPUT_NAME "${name}"
    LIBRARY_OUTPUT_DIRECTORY "${ALLOCBENCH_PLUGIN_FOLDER}/${variant}"
    # What plug-ins have in common by chance stays apart; the interface is exported by name.
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    # Kernels, launched by their addresses, do not need one another.
    CUDA_RUNTIME_LIBRARY Shared CUDA_SEPARABLE_COMPILATION OFF)
  # The CPU back end spends its time in the executor, which is optimised: -O3 here only doubles the build time.
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1> ${arg_COMPILE_OPTIONS})
  allocbench_share_plugin_headers(${target} ${variant})
  if(NOT TARGET plugins_${variant})
    add_custom_target(plugins_${variant})
  endif()
  if(selected)
    add_dependencies(plugins_${variant} ${target})
  else()
    # A worker would load what an earlier build left here, with kernels that may be out of date.
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    file(REMOVE "${ALLOCBENCH_PLUGIN_FOLDER}/${variant}/${name}.so")
  endif()
endfunction()

function(allocbench_add_allocator plugin)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MICRO_TESTS_ONLY" "HEADER" "BACKENDS;INCLUDES;LIBRARIES;COMPILE_OPTIONS")
  if(NOT arg_HEADER)
    message(FATAL_ERROR "allocbench_add_allocator(${plugin}): name its header with HEADER <path>")
  endif()
  if(NOT arg_BACKENDS)
    set(arg_BACKENDS CPU CUDA)
  endif()
  set(selected ON)
  if(ALLOCBENCH_ALLOCATORS AND NOT plugin IN_LIST ALLOCBENCH_ALLOCATORS)
    set(selected OFF)
  endif()
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_KNOWN_PLUGINS ${plugin})
  if(selected)
    set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_PLUGINS ${plugin})
  endif()
  cmake_path(ABSOLUTE_PATH arg_HEADER BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE header)
  if(NOT EXISTS "${header}")
    message(FATAL_ERROR "allocbench_add_allocator(${plugin}): no such header: ${header}")
  endif()
  foreach(backend IN LISTS arg_BACKENDS)
    if(backend STREQUAL "CUDA" AND NOT ALLOCBENCH_WITH_CUDA)
      continue()
    endif()
    string(TOLOWER ${backend} variant)
    allocbench_add_plugin_part(allocbench_plugin_${plugin}_${variant} ${variant} ${plugin} plugin_micro.cpp.in)
    if(NOT arg_MICRO_TESTS_ONLY)
      allocbench_add_plugin_part(allocbench_plugin_${plugin}_applications_${variant} ${variant} ${plugin}-applications
                                 plugin_applications.cpp.in)
    endif()
  endforeach()
  if(CPU IN_LIST arg_BACKENDS)
    allocbench_add_subjects(${plugin} "${header}")
  endif()
endfunction()

# Stops where ALLOCBENCH_ALLOCATORS names a plug-in that nobody added.
function(allocbench_check_selection)
  get_property(known GLOBAL PROPERTY ALLOCBENCH_KNOWN_PLUGINS)
  foreach(name IN LISTS ALLOCBENCH_ALLOCATORS)
    if(NOT name IN_LIST known)
      list(SORT known)
      list(JOIN known ", " allowed)
      message(FATAL_ERROR "ALLOCBENCH_ALLOCATORS names \"${name}\", which is not a plug-in. Allowed, separated by semicolons: "
                          "${allowed}; empty builds all.")
    endif()
  endforeach()
  if(ALLOCBENCH_ALLOCATORS)
    message(STATUS "Plug-ins: ${ALLOCBENCH_ALLOCATORS} (ALLOCBENCH_ALLOCATORS); the others are left out")
  endif()
endfunction()

# The same plug-in for the checking workers.
function(allocbench_add_subjects plugin header)
  foreach(variant IN ITEMS check tsan)
    if(TARGET allocbench::plugin_${variant})
      allocbench_add_plugin_part(allocbench_plugin_${plugin}_${variant} ${variant} ${plugin} plugin_check.cpp.in)
    endif()
  endforeach()
endfunction()
