// The error of functions whose kernels were not compiled, because the build found no nvcc.

#pragma once

#include <string>

#include "trireme/base/error.h"

namespace trireme::cuda {

[[noreturn]] inline void throw_missing(const std::string& what) {
  throw Error(ErrorCode::Unsupported,
              "this build of Trireme has no CUDA kernels for " + what +
                  ": build it where nvcc is installed, or set train.device=cpu");
}

}  // namespace trireme::cuda
