# The GPUs for which the allocators can be compiled.

set(ALLOCBENCH_OLDEST_ARCHITECTURE 70)

# Stops with a message if one of `architectures`, as in CMAKE_CUDA_ARCHITECTURES, is too old. Otherwise the compiler
# would stop deep inside a header.
function(allocbench_check_architectures architectures)
  set(next "Set CMAKE_CUDA_ARCHITECTURES to that of your GPU, such as 90 for an H100")
  set(reason "allocbench needs sm_${ALLOCBENCH_OLDEST_ARCHITECTURE} or newer (threads of a warp that are scheduled independently)")
  foreach(architecture IN LISTS architectures)
    if(architecture STREQUAL "native")
      allocbench_native_architectures(numbers)
    elseif(architecture MATCHES "^all")
      message(FATAL_ERROR "${reason}; CMAKE_CUDA_ARCHITECTURES=${architecture} asks for older ones too. ${next}")
    else()
      string(REGEX MATCH "^[0-9]+" numbers "${architecture}")
    endif()
    foreach(number IN LISTS numbers)
      if(number LESS ALLOCBENCH_OLDEST_ARCHITECTURE)
        message(FATAL_ERROR "${reason}; CMAKE_CUDA_ARCHITECTURES=${architecture} is sm_${number}. ${next}")
      endif()
    endforeach()
  endforeach()
endfunction()

# Sets `result` to the architectures of this machine's GPUs, or to nothing if the driver does not report them.
function(allocbench_native_architectures result)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(numbers "")
  if(NOT failed)
    string(REPLACE "." "" numbers "${capabilities}")
    string(REPLACE "\n" ";" numbers "${numbers}")
  endif()
  set(${result} "${numbers}" PARENT_SCOPE)
endfunction()
