// Where a test finds what it starts and reads. Functions and not macros, because a folder's name in
// a file's flags keeps ccache from finding the file in another checkout.

#pragma once

#include <string>

namespace trireme {

std::string build_folder();
std::string source_folder();
// The Python that the PyTorch of this build belongs to; empty without one.
std::string python_program();

}  // namespace trireme
