# The sanitizers are separate builds, made by a test; the fuzzers are part of one of them. A file that does not
# compile there is a failed test that shows the compiler's message, and does not delay other tests.

set(nested "${PROJECT_SOURCE_DIR}/scripts/nested.sh")

# trireme_nested_build(<preset> <label> <target>...): the test that builds, which others require.
function(trireme_nested_build preset label)
  set(test ${label}.${preset}.build)
  add_test(NAME ${test} COMMAND "${nested}" build ${preset} "${CMAKE_BINARY_DIR}/${preset}" ${ARGN})
  set_tests_properties(${test} PROPERTIES
    LABELS ${label} FIXTURES_SETUP ${preset} SKIP_RETURN_CODE 77 TIMEOUT 1200 RUN_SERIAL TRUE
    ENVIRONMENT "DEPS=${TRIREME_DEPS}")
endfunction()

# trireme_nested_tests(<preset> <binary> <shards> <filter>): runs a test binary of that preset, in
# shards: enough to fill two cores, few enough to start quickly.
function(trireme_nested_tests preset binary shards filter)
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(test sanitize.${preset}.${binary}.${shard})
    add_test(NAME ${test}
      COMMAND "${nested}" run ${preset} "${CMAKE_BINARY_DIR}/${preset}/${binary}"
        "--gtest_filter=${filter}")
    set_tests_properties(${test} PROPERTIES
      LABELS sanitize FIXTURES_REQUIRED ${preset} TIMEOUT 300 COST 60
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# Code with one thread has no data races.
set(one_thread "*Simulation*:Half.*:*Combine*:TomlReader.*:Cores.*:Config*:Utf8.*")
set(filter_of_tsan "*:-${one_thread}")
set(filter_of_asan "*")
foreach(preset tsan asan)
  trireme_nested_build(${preset} sanitize core_tests conformance_tests)
  trireme_nested_tests(${preset} core_tests 4 "${filter_of_${preset}}")
  # Ranks are threads, because a sanitizer does not see races between processes. Three is the
  # smallest number with a rank between the first and the last; `make sanitize` has the others.
  trireme_nested_tests(${preset} conformance_tests 2 "Threads/*_3:RandomProgram.*")
endforeach()

# Five seconds for parsers of recipes and of bytes from a network; two for parsers of other files.
file(GLOB fuzz_targets CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp")
foreach(target ${fuzz_targets})
  get_filename_component(name "${target}" NAME_WE)
  set(seconds 2)
  if(name MATCHES "^(config|frame|handshake|http|launch|link|store)_fuzz$")
    set(seconds 5)
  endif()
  add_test(NAME fuzz.${name}
    COMMAND "${nested}" fuzz "${CMAKE_BINARY_DIR}/asan/fuzz" ${name} ${seconds})
  set_tests_properties(fuzz.${name} PROPERTIES
    LABELS fuzz FIXTURES_REQUIRED asan SKIP_RETURN_CODE 77 TIMEOUT 120)
endforeach()
