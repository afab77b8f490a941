# SPDX-License-Identifier: Apache-2.0
# find_package(attn): the library, its public headers and the package files.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(_attn_package "${CMAKE_INSTALL_LIBDIR}/cmake/attn")
install(TARGETS attn attn_threads EXPORT attnTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/lib/attn" "${PROJECT_SOURCE_DIR}/native/attn"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(EXPORT attnTargets NAMESPACE attn:: DESTINATION "${_attn_package}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/attnConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/attnConfig.cmake" INSTALL_DESTINATION "${_attn_package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/attnConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/attnConfig.cmake" "${PROJECT_BINARY_DIR}/attnConfigVersion.cmake"
        DESTINATION "${_attn_package}")
if(TARGET attn_cli)
  install(TARGETS attn_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
