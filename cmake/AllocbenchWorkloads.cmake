# allocbench_add_workload() adds a workload with one line.
#
#   allocbench_add_workload(my_test MyTest [GROUP <group> [KERNELS <list>] [HEADER <header>]] [WITH_KERNELS <source>...])
#
# my_test/ is the folder. my_test.hpp declares MyTest, and my_test.cpp is its host half, compiled once per back end. If
# a folder has several workloads, write folder/my_test.
#   GROUP          the group in which each plug-in compiles the kernels of the workload (cmake/AllocbenchAllocators.cmake);
#                  the kernels are the list MyTestKernels of my_test/kernels.hpp, or what KERNELS and HEADER name
#   WITH_KERNELS   sources of the folder whose own kernels need no allocator; nvcc compiles them for CUDA, and my_test.cpp, too,
#                  if it is one of them
# The other sources of the folder include no device code and are compiled once.

function(allocbench_add_workload name type)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "GROUP;KERNELS;HEADER" "WITH_KERNELS")
  cmake_path(GET name PARENT_PATH folder)
  cmake_path(GET name FILENAME name)
  if(NOT folder)
    set(folder ${name})
  endif()
  foreach(file IN ITEMS ${name}.hpp ${name}.cpp ${arg_WITH_KERNELS})
    if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file}")
      message(FATAL_ERROR "allocbench_add_workload(${name}): no such file: workloads/${folder}/${file}")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_WORKLOADS "${folder}/${name}.hpp ${type}")
  set(host_half ${name}.cpp)
  list(REMOVE_ITEM host_half ${arg_WITH_KERNELS})
  list(TRANSFORM arg_WITH_KERNELS PREPEND "${folder}/")
  list(TRANSFORM host_half PREPEND "${folder}/")
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_HOST_HALVES ${host_half})
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_HOST_HALVES_WITH_KERNELS ${arg_WITH_KERNELS})
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_WORKLOAD_FOLDERS ${folder})
  if(arg_GROUP)
    if(NOT arg_KERNELS)
      set(arg_KERNELS ${type}Kernels)
    endif()
    if(NOT arg_HEADER)
      set(arg_HEADER kernels.hpp)
    endif()
    allocbench_add_kernels(${arg_GROUP} ${arg_KERNELS} ${folder}/${arg_HEADER})
  endif()
endfunction()

# Adds a list of kernels in a header of workloads/ to a group. With TEST_ONLY, they are the only kernels that allocators
# run that are broken on purpose.
function(allocbench_add_kernels group kernels header)
  if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
    message(FATAL_ERROR "There is no header of kernels: workloads/${header}")
  endif()
  if(NOT group IN_LIST ALLOCBENCH_GROUPS_micro AND NOT group IN_LIST ALLOCBENCH_GROUPS_applications)
    list(JOIN ALLOCBENCH_GROUPS_micro ", " micro)
    list(JOIN ALLOCBENCH_GROUPS_applications ", " applications)
    message(FATAL_ERROR "${header}: there is no group \"${group}\". Micro tests have ${micro}; applications have ${applications}.")
  endif()
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_KERNELS_OF_${group} "${kernels}")
  set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_HEADERS_OF_${group} "${header}")
  if("TEST_ONLY" IN_LIST ARGN)
    set_property(GLOBAL APPEND PROPERTY ALLOCBENCH_TEST_ONLY_OF_${group} "${kernels}")
  endif()
endfunction()

# Sets `result` to sorted #include lines for these headers of workloads/.
function(allocbench_include_lines result)
  set(headers ${ARGN})
  list(SORT headers)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"workloads/\\1\"\n")
  list(JOIN headers "" lines)
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# Writes workloads/all.cpp and workloads/groups/<group>.hpp into `folder`.
function(allocbench_write_workloads folder)
  get_property(workloads GLOBAL PROPERTY ALLOCBENCH_WORKLOADS)
  set(headers ${workloads})
  list(TRANSFORM headers REPLACE " .*" "")
  allocbench_include_lines(includes ${headers})
  list(TRANSFORM workloads REPLACE ".* (.+)" "workload_type<\\1>()")
  list(JOIN workloads ",\n          " types)
  file(CONFIGURE OUTPUT "${folder}/workloads/all.cpp" @ONLY CONTENT
"// Made from workloads/CMakeLists.txt.
@includes@
namespace allocbench {

std::vector<WorkloadType> all_workloads() {
  return {@types@};
}

}  // namespace allocbench
")
  foreach(kind IN ITEMS micro applications)
    foreach(group IN LISTS ALLOCBENCH_GROUPS_${kind})
      allocbench_write_group("${folder}" ${kind} ${group})
    endforeach()
  endforeach()
endfunction()

function(allocbench_write_group folder kind group)
  foreach(what IN ITEMS HEADERS KERNELS TEST_ONLY)
    get_property(${what} GLOBAL PROPERTY ALLOCBENCH_${what}_OF_${group})
  endforeach()
  allocbench_include_lines(includes ${HEADERS})
  set(base_micro MicroGroup)
  set(base_applications ApplicationGroup)
  list(TRANSFORM KERNELS PREPEND "allocbench::")
  list(JOIN KERNELS ", " kernels)
  set(members "")
  if(TEST_ONLY)
    list(JOIN TEST_ONLY ", " test_only)
    set(members " using OfTestOnly = JoinedKernels<${test_only}>; ")
  endif()
  set(base ${base_${kind}})
  file(CONFIGURE OUTPUT "${folder}/workloads/groups/${group}.hpp" @ONLY CONTENT
"// Made from workloads/CMakeLists.txt.
#pragma once

#include \"workloads/support/contract/kernel_group.hpp\"
@includes@
namespace allocbench::groups {
struct @group@ : @base@<@kernels@> {@members@};
}  // namespace allocbench::groups
")
endfunction()
