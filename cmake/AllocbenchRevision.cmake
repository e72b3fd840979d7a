# The target `measured_revision`: <allocbench_revision.hpp>, written anew in every build in which the sources changed.

set(revision_folder "${PROJECT_BINARY_DIR}/revision")
add_custom_target(
  measured_revision
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DBINARY=${PROJECT_BINARY_DIR}"
          "-DOUTPUT=${revision_folder}/allocbench_revision.hpp" -P "${CMAKE_CURRENT_LIST_DIR}/MeasuredRevision.cmake"
  BYPRODUCTS "${revision_folder}/allocbench_revision.hpp"
  COMMENT "Hashing the measured sources"
  VERBATIM)

# Lets `source`, of the target, include the header.
function(allocbench_knows_revision target source)
  add_dependencies(${target} measured_revision)
  set_property(SOURCE ${source} APPEND PROPERTY INCLUDE_DIRECTORIES "${PROJECT_BINARY_DIR}/revision")
endfunction()
