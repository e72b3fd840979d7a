# Sets ALLOCBENCH_RACES if simt_cpu_races can be built, in which ThreadSanitizer finds races between lanes.

set(ALLOCBENCH_RACES OFF)
if(ALLOCBENCH_SANITIZER)
  message(STATUS "Race build: off beside ALLOCBENCH_SANITIZER=${ALLOCBENCH_SANITIZER}")
  return()
endif()

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=thread)
check_cxx_source_compiles(
  "#include <sanitizer/tsan_interface.h>
  int main() { __tsan_switch_to_fiber(__tsan_get_current_fiber(), __tsan_switch_to_fiber_no_sync); }"
  ALLOCBENCH_HAS_TSAN_FIBERS)
unset(CMAKE_REQUIRED_FLAGS)
if(ALLOCBENCH_HAS_TSAN_FIBERS)
  set(ALLOCBENCH_RACES ON)
else()
  message(STATUS "Race build: off, the compiler has no ThreadSanitizer with fibers (Debian: libtsan2)")
endif()
