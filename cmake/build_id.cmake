# trireme_build_id(<variable> <root> <salt> <file>...): 16 hexadecimal digits computed from the salt
# and the names and content of the files. Independent of the location of the root and the order of
# the files.
function(trireme_build_id variable root salt)
  set(files ${ARGN})
  list(SORT files)
  set(digest "${salt}")
  foreach(file ${files})
    file(SHA256 "${file}" hash)
    file(RELATIVE_PATH name "${root}" "${file}")
    string(APPEND digest "\n${name} ${hash}")
  endforeach()
  string(SHA256 id "${digest}")
  string(SUBSTRING "${id}" 0 16 id)
  set(${variable} "${id}" PARENT_SCOPE)
endfunction()
