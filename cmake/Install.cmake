# The installed package: find_package(Trireme) provides trireme::core and, with torch,
# trireme::trireme. It contains no path of the build machine except that of torch.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Trireme")

set_target_properties(trireme_core PROPERTIES EXPORT_NAME core)
install(TARGETS trireme_core EXPORT TriremeCoreTargets)
install(EXPORT TriremeCoreTargets NAMESPACE trireme:: DESTINATION "${package_dir}")
if(TARGET trireme_torch)
  set_target_properties(trireme_torch PROPERTIES EXPORT_NAME trireme)
  install(TARGETS trireme_torch EXPORT TriremeTorchTargets)
  install(EXPORT TriremeTorchTargets NAMESPACE trireme:: DESTINATION "${package_dir}")
endif()
install(TARGETS trireme)
if(TARGET trireme-worker)
  install(TARGETS trireme-worker)
  install(FILES "$<TARGET_FILE:trireme-worker>.json" DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY trireme/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trireme"
  FILES_MATCHING PATTERN "*.h"
  PATTERN "testing" EXCLUDE PATTERN "cli" EXCLUDE PATTERN "console" EXCLUDE)

configure_package_config_file(cmake/TriremeConfig.cmake.in
  "${CMAKE_BINARY_DIR}/generated/TriremeConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/generated/TriremeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/TriremeTorch.cmake
  "${CMAKE_BINARY_DIR}/generated/TriremeConfig.cmake"
  "${CMAKE_BINARY_DIR}/generated/TriremeConfigVersion.cmake"
  DESTINATION "${package_dir}")
