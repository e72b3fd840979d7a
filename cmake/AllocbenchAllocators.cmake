# allocbench_add_allocator() adds a plug-in with one line, inside this project and outside of it.
#
#   allocbench_add_allocator(my_malloc HEADER path/to/my_malloc.hpp [BACKENDS CPU CUDA] [MICRO_TESTS_ONLY] [SMALL|LARGE]
#                           [INCLUDES <folder>...] [LIBRARIES <target or file>...] [COMPILE_OPTIONS <option>...])
#
# The header registers its types with ALLOCBENCH_REGISTER(my_malloc, ...). A plug-in becomes shared objects in folders.
# The worker with the folder's name loads them at its start:
#   plugins/cpu/, plugins/cuda/    my_malloc.so (the allocators, kernels of the micro tests), my_malloc-applications.so
#   plugins/check/, plugins/tsan/  my_malloc.so for `allocbench check` (schedules, races)
# These folders are in ALLOCBENCH_PLUGIN_FOLDER. The default is <build>/plugins; in this project it is
# build/bin/plugins.
#
# A shared object is linked from units, and each unit compiles the kernels of some groups (workloads/CMakeLists.txt). An
# edit of a workload's kernels compiles the unit of its group again, once for each plug-in.
# * LARGE: nvcc needs half a minute or more for the applications, so they get more units.
# * SMALL: nvcc needs longer for the headers of a unit than for its kernels, so each shared object has one unit.
# * Plug-ins of other projects and plug-ins with INCLUDES have one unit per shared object, because functions in other
#   people's headers need not be inline.
#
# Nothing else is compiled or linked again for a plug-in. The targets are allocbench_plugin_<plugin>_<folder> for each
# plug-in and plugins_<folder> for all plug-ins.

set(ALLOCBENCH_TEMPLATE_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "")
if(NOT ALLOCBENCH_PLUGIN_FOLDER)
  set(ALLOCBENCH_PLUGIN_FOLDER "${CMAKE_BINARY_DIR}/plugins")
endif()

# The units of the shared objects, as groups joined by "+". The first unit of the micro tests contains the allocators.
# Every unit parses the headers (1.5 to 3.5 CPU seconds with nvcc) and compiles the allocator's functions again. So
# fewer units cost less in all, and more units make an edit of a workload compile less. CUDA kernels inline their
# allocator. A large allocator is most of the work.
set(ALLOCBENCH_UNITS_micro calls+held cycles+lists_and_latencies CACHE INTERNAL "")
set(ALLOCBENCH_UNITS_applications graph_build+group_by join_and_tree+updates CACHE INTERNAL "")
set(ALLOCBENCH_LARGE_UNITS_applications graph_build group_by join_and_tree updates CACHE INTERNAL "")
foreach(kind IN ITEMS micro applications)
  string(REPLACE "+" ";" ALLOCBENCH_GROUPS_${kind} "${ALLOCBENCH_UNITS_${kind}}")
endforeach()

# Host code spends its time in the executor, which is optimised. More optimisation here would only cost build time.
set(ALLOCBENCH_OPTIMISATION_cpu -Og CACHE INTERNAL "")
set(ALLOCBENCH_OPTIMISATION_check -O1 CACHE INTERNAL "")
set(ALLOCBENCH_OPTIMISATION_tsan -O1 CACHE INTERNAL "")
set(ALLOCBENCH_OPTIMISATION_cuda -O1 CACHE INTERNAL "")

# Precompiles the headers that all units of a variant include before their own allocator and workloads. Parsing them
# takes a third of the compile time of a small unit. nvcc has no precompiled headers.
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
    target_compile_options(${headers} PRIVATE $<$<CONFIG:Release>:${ALLOCBENCH_OPTIMISATION_${variant}}>)
    if(variant STREQUAL "cpu")
      target_precompile_headers(${headers} PRIVATE
        <algorithm> <array> <memory> <optional> <string> <vector>
        "${PROJECT_SOURCE_DIR}/allocators/support/contract/allocator.hpp"
        "${PROJECT_SOURCE_DIR}/workloads/support/contract/export.hpp"
        "${PROJECT_SOURCE_DIR}/workloads/support/contract/plugin_kernels.hpp")
    else()
      target_precompile_headers(${headers} PRIVATE
        <algorithm> <memory> <string> <vector>
        "${PROJECT_SOURCE_DIR}/allocators/support/contract/allocator.hpp"
        "${PROJECT_SOURCE_DIR}/check/plugin.hpp"
        "${PROJECT_SOURCE_DIR}/check/subject_of.hpp")
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# Writes a unit from `template` that compiles some groups ("a+b"), and adds its path to `units`.
function(allocbench_write_plugin_unit name template extension unit)
  string(REPLACE "+" "_" function "allocbench_${unit}")
  string(REPLACE "+" ";" groups "${unit}")
  list(TRANSFORM groups REPLACE "(.+)" "#include \"workloads/groups/\\1.hpp\"" OUTPUT_VARIABLE include_groups)
  list(JOIN include_groups "\n" include_groups)
  list(TRANSFORM groups PREPEND "allocbench::groups::")
  list(JOIN groups ", " groups)
  string(CONCAT define_kernels "allocbench::UnitKernels ${function}() {\n"
      "  return allocbench::kernels_of_groups<${groups}>(allocbench::plugins::${plugin}{});\n}\n")
  set(path "${CMAKE_CURRENT_BINARY_DIR}/plugins/${name}.${extension}")
  configure_file("${ALLOCBENCH_TEMPLATE_DIR}/${template}" "${path}" @ONLY)
  set(units ${units} "${path}" PARENT_SCOPE)
endfunction()

# Adds one shared object. `variant` is the folder, `name` the file, and `template` makes its first unit. The other
# arguments are the units of kernels, as groups joined by "+". There are none if the template contains everything. The
# function reads the arguments of allocbench_add_allocator(), which calls it.
function(allocbench_add_plugin_part target variant name template)
  set(extension cpp)
  if(variant STREQUAL "cuda")
    set(extension cu)
  endif()
  # A header of this project is named by its path in the project, so that units of equal trees are equal.
  if(PROJECT_NAME STREQUAL "allocbench")
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
  set(units "")
  set(declare_kernels "")
  set(all_kernels "")
  set(first_unit "${ARGV4}")
  string(REPLACE "+" "_" names "${ARGN}")
  foreach(unit name IN ZIP_LISTS ARGN names)
    list(APPEND all_kernels "allocbench_${name}()")
    if(NOT unit STREQUAL first_unit)
      string(APPEND declare_kernels "allocbench::UnitKernels allocbench_${name}();\n")
      allocbench_write_plugin_unit(${target}_${name} plugin_kernels.cpp.in ${extension} "${unit}")
    endif()
  endforeach()
  list(JOIN all_kernels ", " all_kernels)
  allocbench_write_plugin_unit(${target} ${template} ${extension} "${first_unit}")
  # All plug-ins of a worker share this unit, so a new text compiles nothing else.
  set(interface allocbench_plugin_interface_${variant})
  if(NOT TARGET ${interface})
    set(interface_unit "${CMAKE_CURRENT_BINARY_DIR}/plugins/interface_${variant}.cpp")
    configure_file("${ALLOCBENCH_TEMPLATE_DIR}/plugin_interface.cpp.in" "${interface_unit}" @ONLY)
    add_library(${interface} OBJECT "${interface_unit}")
    set_target_properties(${interface} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  add_library(${target} MODULE ${units} $<TARGET_OBJECTS:${interface}>)
  # The sources of other projects are unknown.
  if(PROJECT_NAME STREQUAL "allocbench")
    allocbench_write_sources(${target})
  endif()
  target_link_libraries(${target} PRIVATE allocbench::plugin_${variant} ${arg_LIBRARIES})
  target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX ".so" OUTPUT_NAME "${name}"
    LIBRARY_OUTPUT_DIRECTORY "${ALLOCBENCH_PLUGIN_FOLDER}/${variant}"
    # Equal names in several plug-ins stay separate. Only the interface is exported by name.
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    # Kernels are launched by their addresses and do not need each other.
    CUDA_RUNTIME_LIBRARY Shared CUDA_SEPARABLE_COMPILATION OFF)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:${ALLOCBENCH_OPTIMISATION_${variant}}> ${arg_COMPILE_OPTIONS})
  allocbench_share_plugin_headers(${target} ${variant})
  if(NOT TARGET plugins_${variant})
    add_custom_target(plugins_${variant})
  endif()
  if(selected)
    add_dependencies(plugins_${variant} ${target})
  elseif(DEFINED selected)  # the bug zoo is not a plug-in of a selection
    # A worker would load what an earlier build left here, with kernels that may be out of date.
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    file(REMOVE "${ALLOCBENCH_PLUGIN_FOLDER}/${variant}/${name}.so")
  endif()
endfunction()

function(allocbench_add_allocator plugin)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MICRO_TESTS_ONLY;SMALL;LARGE" "HEADER" "BACKENDS;INCLUDES;LIBRARIES;COMPILE_OPTIONS")
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
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_HEADERS "${header}")
  foreach(backend IN LISTS arg_BACKENDS)
    if(backend STREQUAL "CUDA" AND NOT ALLOCBENCH_WITH_CUDA)
      continue()
    endif()
    string(TOLOWER ${backend} variant)
    set(micro ${ALLOCBENCH_UNITS_micro})
    set(applications ${ALLOCBENCH_UNITS_applications})
    if(arg_SMALL OR arg_INCLUDES OR NOT PROJECT_NAME STREQUAL "allocbench")
      list(JOIN micro "+" micro)
      list(JOIN applications "+" applications)
    elseif(arg_LARGE AND backend STREQUAL "CUDA")
      set(applications ${ALLOCBENCH_LARGE_UNITS_applications})
    endif()
    allocbench_add_plugin_part(allocbench_plugin_${plugin}_${variant} ${variant} ${plugin} plugin_micro.cpp.in ${micro})
    if(NOT arg_MICRO_TESTS_ONLY)
      allocbench_add_plugin_part(allocbench_plugin_${plugin}_applications_${variant} ${variant} ${plugin}-applications
                                 plugin_applications.cpp.in ${applications})
    endif()
  endforeach()
  if(CPU IN_LIST arg_BACKENDS)
    allocbench_add_subjects(${plugin} "${header}")
  endif()
endfunction()

# Stops if ALLOCBENCH_ALLOCATORS names a plug-in that does not exist.
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

# Writes allocbench/allocators.hpp into `folder`. It includes the headers of allocators/ that the library has
# (AllocbenchInstall.cmake).
function(allocbench_write_umbrella folder)
  get_property(headers GLOBAL PROPERTY ALLOCBENCH_HEADERS)
  list(TRANSFORM headers REPLACE "^${PROJECT_SOURCE_DIR}/" "")
  list(FILTER headers INCLUDE REGEX "^allocators/")
  list(FILTER headers EXCLUDE REGEX "^allocators/(support|delayed)/")
  list(SORT headers)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN headers "" includes)
  file(CONFIGURE OUTPUT "${folder}/allocbench/allocators.hpp" @ONLY CONTENT
"// All allocators of the suite and the owner of one, for programs of your own. One allocator alone compiles faster:
// allocbench/heap.hpp and its own header.
#pragma once

@includes@#include \"allocbench/heap.hpp\"
")
endfunction()

# Adds the same plug-in for the checking workers.
function(allocbench_add_subjects plugin header)
  foreach(variant IN ITEMS check tsan)
    if(TARGET allocbench::plugin_${variant})
      allocbench_add_plugin_part(allocbench_plugin_${plugin}_${variant} ${variant} ${plugin} plugin_check.cpp.in)
    endif()
  endforeach()
endfunction()
