// Settings of a job, and more of them.

#pragma once

#include "tests/train/tiny_job.h"

namespace trireme::train {

inline Words operator+(Words some, const Words& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

}  // namespace trireme::train
