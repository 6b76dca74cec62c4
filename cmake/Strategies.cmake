# Writes strategy_list.cpp, which calls add_<name>() of every trireme/parallel/strategy/<name>.cpp.

set(TRIREME_STRATEGY_LIST "${PROJECT_BINARY_DIR}/generated/strategy_list.cpp")
file(GLOB strategies CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/trireme/parallel/strategy/*.cpp")
set(TRIREME_STRATEGY_DECLARATIONS)
set(TRIREME_STRATEGY_CALLS)
foreach(strategy ${strategies})
  get_filename_component(name "${strategy}" NAME_WE)
  string(APPEND TRIREME_STRATEGY_DECLARATIONS "void add_${name}(Strategies& all);\n")
  string(APPEND TRIREME_STRATEGY_CALLS "  add_${name}(all);\n")
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/strategy_list.cpp.in" "${TRIREME_STRATEGY_LIST}" @ONLY)
