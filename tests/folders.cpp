#include "tests/folders.h"

namespace trireme {

std::string build_folder() {
  return TRIREME_BINARY_DIR;
}

std::string source_folder() {
  return TRIREME_SOURCE_DIR;
}

std::string python_program() {
  return TRIREME_PYTHON;
}

}  // namespace trireme
