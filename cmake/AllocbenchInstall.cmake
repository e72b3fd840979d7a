# Defines `cmake --install`, and Debian packages by `cpack -G DEB`. There are two components:
#   library    headers and sources for find_package(allocbench); needs nothing built
#   programs   allocbench, its workers and plug-ins, configs, manual page, shell completion

include(GNUInstallDirs)

set(ALLOCBENCH_SOURCES_DIR "${CMAKE_INSTALL_INCLUDEDIR}/allocbench")
set(ALLOCBENCH_PACKAGE_DIR "${CMAKE_INSTALL_DATADIR}/cmake/allocbench")

install(DIRECTORY simt traces allocators DESTINATION "${ALLOCBENCH_SOURCES_DIR}" COMPONENT library
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cpp" PATTERN "*.cu" PATTERN "saboteur" EXCLUDE PATTERN "delayed" EXCLUDE)
install(FILES protocol/parameter.hpp DESTINATION "${ALLOCBENCH_SOURCES_DIR}/protocol" COMPONENT library)
install(DIRECTORY library/allocbench "${PROJECT_BINARY_DIR}/library/allocbench" DESTINATION "${ALLOCBENCH_SOURCES_DIR}" COMPONENT library FILES_MATCHING PATTERN "*.hpp")
install(FILES cmake/AllocbenchLibrary.cmake cmake/AllocbenchArchitectures.cmake
  DESTINATION "${ALLOCBENCH_PACKAGE_DIR}" COMPONENT library)
install(FILES LICENSE docs/use-the-library.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT library)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/allocbenchInstalledConfig.cmake.in "${CMAKE_BINARY_DIR}/installed/allocbenchConfig.cmake"
  INSTALL_DESTINATION "${ALLOCBENCH_PACKAGE_DIR}" PATH_VARS ALLOCBENCH_SOURCES_DIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/installed/allocbenchConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${CMAKE_BINARY_DIR}/installed/allocbenchConfig.cmake" "${CMAKE_BINARY_DIR}/installed/allocbenchConfigVersion.cmake"
  DESTINATION "${ALLOCBENCH_PACKAGE_DIR}" COMPONENT library)

# The program looks for its workers in its own folder, and the workers look there for plug-ins.
set(programs_dir "${CMAKE_INSTALL_LIBDIR}/allocbench")
set(allocbench_path "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/allocbench")
install(PROGRAMS "${allocbench_path}" DESTINATION "${programs_dir}" COMPONENT programs)
foreach(variant IN ITEMS cpu cuda check tsan)
  if(TARGET plugins_${variant})
    install(PROGRAMS "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/allocbench-worker-${variant}" DESTINATION "${programs_dir}" COMPONENT programs)
    install(DIRECTORY "${ALLOCBENCH_PLUGIN_FOLDER}/${variant}" DESTINATION "${programs_dir}/plugins" COMPONENT programs)
  endif()
endforeach()
install(CODE "
  set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  file(MAKE_DIRECTORY \"\${bin}\")
  file(CREATE_LINK \"../${programs_dir}/allocbench\" \"\${bin}/allocbench\" SYMBOLIC)" COMPONENT programs)
install(DIRECTORY configs data DESTINATION "${CMAKE_INSTALL_DATADIR}/allocbench" COMPONENT programs)

# The program describes itself, so these texts are always up to date.
set(texts "${CMAKE_BINARY_DIR}/texts")
set(manual "${texts}/allocbench.1")
set(bash "${texts}/allocbench")
set(zsh "${texts}/_allocbench")
set(fish "${texts}/allocbench.fish")
file(MAKE_DIRECTORY "${texts}")
add_custom_command(OUTPUT "${manual}" "${bash}" "${zsh}" "${fish}"
  COMMAND "${allocbench_path}" manual > "${manual}"
  COMMAND "${allocbench_path}" completion bash > "${bash}"
  COMMAND "${allocbench_path}" completion zsh > "${zsh}"
  COMMAND "${allocbench_path}" completion fish > "${fish}"
  DEPENDS allocbench allocbench_program VERBATIM COMMENT "Writing the manual page and completion scripts")
add_custom_target(texts ALL DEPENDS "${manual}" "${bash}" "${zsh}" "${fish}")
install(FILES "${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT programs)
install(FILES "${bash}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT programs)
install(FILES "${zsh}" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT programs)
install(FILES "${fish}" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT programs)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME allocbench)
set(CPACK_PACKAGE_CONTACT "the allocbench project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library programs)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME allocbench-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "librandom123-dev, libboost-context-dev (>= 1.74)")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "nlohmann-json3-dev, zlib1g-dev")  # needed for traces
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "GPU memory allocators as a C++20 library\n The allocators of allocbench for CUDA kernels and for the CPU executor.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME allocbench)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION
  "${PROJECT_DESCRIPTION}\n Every allocator under every workload, on a CUDA GPU or on the CPU.")
include(CPack)
