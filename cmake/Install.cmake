# What is installed: programs, libraries, headers, recipes, documents and examples. find_package(Trireme)
# provides trireme::core and, with torch, trireme::trireme. The only path of the build machine is that
# of torch, in a file of its own (below), which packages do not contain (cmake/Package.cmake).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Trireme")
set(private_dir "${CMAKE_INSTALL_LIBEXECDIR}/trireme")
set(data_dir "${CMAKE_INSTALL_DATADIR}/trireme")
set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/trireme")  # in lower case, as Debian names it

# trireme_install_with_torch(<program>): installs a program that links torch, without a path of its
# libraries. A script with the program's name, cmake/with_torch.sh.in, is installed where users look
# for it; it finds torch and starts the program.
function(trireme_install_with_torch name)
  # A build path of CMake's own, so that CMake always changes the path when it installs the program.
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "${TRIREME_TORCH_DIR}/lib" INSTALL_RPATH "" INSTALL_REMOVE_ENVIRONMENT_RPATH ON)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.?[0-9]*" torch_version "${TRIREME_TORCH_VERSION}")
  file(RELATIVE_PATH to_private
    "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/trireme")
  file(RELATIVE_PATH to_data "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_DATADIR}/trireme")
  set(script "${PROJECT_BINARY_DIR}/generated/with_torch/${name}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/with_torch.sh.in" "${script}.sh" @ONLY)
  # With the program, so that a program that was not built is not installed either.
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${script}.sh")
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy "${script}.sh" "${script}")
  install(TARGETS ${name} RUNTIME DESTINATION "${private_dir}" OPTIONAL)
  install(PROGRAMS "${script}" DESTINATION "${CMAKE_INSTALL_BINDIR}" OPTIONAL)
endfunction()

set_target_properties(trireme_core PROPERTIES EXPORT_NAME core)
install(TARGETS trireme_core EXPORT TriremeCoreTargets)
install(EXPORT TriremeCoreTargets NAMESPACE trireme:: DESTINATION "${package_dir}")
if(TARGET trireme_torch)
  set_target_properties(trireme_torch PROPERTIES EXPORT_NAME trireme)
  install(TARGETS trireme_torch EXPORT TriremeTorchTargets)
  install(EXPORT TriremeTorchTargets NAMESPACE trireme:: DESTINATION "${package_dir}")
endif()
# `cmake --install --strip` and packages: CMake itself strips only programs.
install(CODE "
  if(CMAKE_INSTALL_DO_STRIP)
    file(GLOB libraries \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libtrireme_*.a\")
    execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug \${libraries} COMMAND_ERROR_IS_FATAL ANY)
  endif()")
install(TARGETS trireme)
if(TARGET trireme-worker)
  trireme_install_with_torch(trireme-worker)
  install(FILES "$<TARGET_FILE:trireme-worker>.json" DESTINATION "${CMAKE_INSTALL_BINDIR}")
  # `trireme` reads this file only if it is no older than the script.
  install(CODE "file(TOUCH_NOCREATE
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/trireme-worker.json\")")
  # The PyTorch of this build, for when TRIREME_TORCH does not name another one.
  file(WRITE "${PROJECT_BINARY_DIR}/generated/torch" "${TRIREME_TORCH_DIR}\n")
  install(FILES "${PROJECT_BINARY_DIR}/generated/torch" DESTINATION "${data_dir}"
    COMPONENT torch_of_build)
endif()
install(FILES "${completions}/trireme.bash" RENAME trireme
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${completions}/trireme.zsh" RENAME _trireme
  DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(FILES "${completions}/trireme.fish"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(DIRECTORY trireme/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trireme"
  FILES_MATCHING PATTERN "*.h"
  PATTERN "testing" EXCLUDE PATTERN "cli" EXCLUDE PATTERN "console" EXCLUDE)

install(DIRECTORY recipes DESTINATION "${data_dir}")
# The documents link to the examples and to each other.
install(DIRECTORY docs examples DESTINATION "${doc_dir}")
install(FILES README.md ARCHITECTURE.md CHANGELOG.md CITATION.cff CODE_OF_CONDUCT.md
    CONTRIBUTING.md SECURITY.md LICENSE
  DESTINATION "${doc_dir}")
# The name that Debian requires.
install(FILES LICENSE DESTINATION "${doc_dir}" RENAME copyright)
# Parts of the header-only libraries are in the programs, and their licences ask for a copy of them.
foreach(library fmt=libfmt-dev toml++=libtomlplusplus-dev CLI=libcli11-dev
    nlohmann=nlohmann-json3-dev xxhash.h=libxxhash-dev)
  string(REGEX MATCH "^([^=]+)=(.*)$" library "${library}")
  set(name "${CMAKE_MATCH_1}")
  set(licence "/usr/share/doc/${CMAKE_MATCH_2}/copyright")
  if(TRIREME_DEPS)
    set(licence "${TRIREME_DEPS}/licenses/${name}")
  endif()
  string(REPLACE ".h" "" name "${name}")
  install(FILES "${licence}" DESTINATION "${doc_dir}/licences" RENAME "${name}" OPTIONAL)
endforeach()

configure_package_config_file(cmake/TriremeConfig.cmake.in
  "${CMAKE_BINARY_DIR}/generated/TriremeConfig.cmake" INSTALL_DESTINATION "${package_dir}"
  PATH_VARS data_dir)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/generated/TriremeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/TriremeTorch.cmake
  "${CMAKE_BINARY_DIR}/generated/TriremeConfig.cmake"
  "${CMAKE_BINARY_DIR}/generated/TriremeConfigVersion.cmake"
  DESTINATION "${package_dir}")
