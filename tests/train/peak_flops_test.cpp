// Goal:   the measured peak is a number that a machine can have.
// Method: measured once; between a slow core and the largest host there is.

#include "trireme/train/peak_flops.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(PeakFlops, IsWithinWhatMachinesDo) {
  const double peak = measure_peak_flops();
  EXPECT_GT(peak, 1e7);
  EXPECT_LT(peak, 1e15);
}

}  // namespace
}  // namespace trireme::train
