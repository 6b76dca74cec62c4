# trireme_sources(<variable> <folder>...): every .cpp below trireme/<folder>, found anew whenever
# a file comes or goes, so that nobody lists files by hand.
function(trireme_sources variable)
  set(all)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/trireme/${folder}/*.cpp")
    list(APPEND all ${found})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()
