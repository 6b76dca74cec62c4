# The commands of the documents do what they say; each tutorial is a test of its own.
set(document_test "${CMAKE_CURRENT_LIST_DIR}/commands_test.py")
add_test(NAME documents.commands
  COMMAND Python3::Interpreter "${document_test}" "${PROJECT_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
set_tests_properties(documents.commands PROPERTIES LABELS tidy TIMEOUT 300)
file(GLOB tutorials CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/tutorials/*.md")
foreach(page ${tutorials})
  get_filename_component(name "${page}" NAME_WE)
  add_test(NAME documents.${name} COMMAND Python3::Interpreter "${document_test}"
    "${PROJECT_SOURCE_DIR}" "${CMAKE_BINARY_DIR}" "${page}")
  set_tests_properties(documents.${name} PROPERTIES LABELS tidy TIMEOUT 120
    SKIP_REGULAR_EXPRESSION "NOT TESTED")
endforeach()
add_test(NAME documents.selftest COMMAND Python3::Interpreter
  "${CMAKE_CURRENT_LIST_DIR}/page_selftest.py")
add_test(NAME documents.site COMMAND Python3::Interpreter
  "${CMAKE_CURRENT_LIST_DIR}/site_selftest.py")
set_tests_properties(documents.selftest documents.site PROPERTIES LABELS tidy TIMEOUT 60)
