# allocbench_add_program() adds a program that states from which sources it was built (protocol/sources.hpp).
#
# Every build hashes the measured sources (target `measured_revision`). A program is linked without the hash, which is
# then written into a copy of the program: build/bin/<name>. So an edit compiles and links only what includes the edited
# file. All programs that are up to date state the last build's sources. A front end and a worker that were built from
# different sources differ.

set(revision_text "${PROJECT_BINARY_DIR}/revision/sources")
add_custom_target(
  measured_revision
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DBINARY=${PROJECT_BINARY_DIR}" "-DOUTPUT=${revision_text}"
          -P "${CMAKE_CURRENT_LIST_DIR}/MeasuredRevision.cmake"
  BYPRODUCTS "${revision_text}"
  COMMENT "Hashing the measured sources"
  VERBATIM)

# Writes the sources into a plug-in each time it is linked (cmake/plugin_interface.cpp.in).
function(allocbench_write_sources target)
  add_dependencies(${target} measured_revision)
  add_custom_command(
    TARGET ${target} POST_BUILD
    COMMAND "${CMAKE_OBJCOPY}" --update-section "allocbench_sources=${revision_text}" "$<TARGET_FILE:${target}>" VERBATIM)
endfunction()

# The target <name> makes the program. The target <name>_program links it from `sources`.
function(allocbench_add_program name)
  set(program "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}")
  add_executable(${name}_program ${ARGN})
  set_target_properties(${name}_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/linked")
  # A running program keeps its file, and the new file replaces it in the folder.
  add_custom_command(
    OUTPUT "${program}"
    COMMAND "${CMAKE_OBJCOPY}" --update-section "allocbench_sources=${revision_text}" "$<TARGET_FILE:${name}_program>" "${program}.new"
    COMMAND "${CMAKE_COMMAND}" -E rename "${program}.new" "${program}"
    DEPENDS ${name}_program "${revision_text}" COMMENT "Writing the measured revision into ${name}" VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${program}")
  add_dependencies(${name} measured_revision)
endfunction()
