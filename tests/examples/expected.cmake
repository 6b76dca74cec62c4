# An example with an .expected file beside it prints what that file says, or this test fails.
file(GLOB expected CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.expected")
foreach(file ${expected})
  get_filename_component(name "${file}" NAME_WE)
  if(TARGET ${name})
    add_test(NAME example.${name}
      COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/expect.py" "${file}"
        --trireme "$<TARGET_FILE:trireme>" --example "$<TARGET_FILE:${name}>")
    set_tests_properties(example.${name} PROPERTIES LABELS process TIMEOUT 60)
  endif()
endforeach()
add_test(NAME example.expect_selftest
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/expect_selftest.py")
set_tests_properties(example.expect_selftest PROPERTIES LABELS tidy TIMEOUT 60)
