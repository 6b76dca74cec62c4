// Goal:   the peak is a number that a machine can have, and utilization is never cut off: a wrong
//         count of operations has to be seen.
// Method: measured once; the rest with measurements that the test makes up.

#include "trireme/train/report/peak_flops.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(PeakFlops, IsWithinWhatMachinesDo) {
  const double peak = measure_peak_flops(Precision::BFloat16);
  EXPECT_GT(peak, 1e7);
  EXPECT_LT(peak, 1e15);
}

TEST(PeakFlops, TheBestMeasurementCounts) {
  std::vector<double> busy{4e9, 10e9, 6e9};
  std::size_t next = 0;
  PeakFlops peak([&](Precision) { return busy.at(next++); });
  EXPECT_EQ(peak.value(), 0);
  for (const double best : {4e9, 10e9, 10e9}) {
    peak.measure(Precision::Float32);
    EXPECT_EQ(peak.value(), best);
  }
  EXPECT_EQ(peak.utilization(5e9, Precision::Float32), 0.5);
  EXPECT_EQ(next, 3U) << "nothing to find out below the peak";
}

TEST(PeakFlops, IsMeasuredAgainWhenTrainingIsFaster) {
  std::vector<double> measured{4e9, 20e9};
  std::size_t next = 0;
  PeakFlops peak([&](Precision precision) {
    EXPECT_EQ(precision, Precision::BFloat16);
    return measured.at(next++);
  });
  peak.measure(Precision::BFloat16);
  EXPECT_EQ(peak.utilization(10e9, Precision::BFloat16), 0.5);
}

TEST(PeakFlops, MoreThanThePeakIsShownAsItIs) {
  int measurements = 0;
  PeakFlops peak([&](Precision) { return ++measurements, 1e9; });
  for (double achieved = 2e9; achieved < 50e9; achieved += 1e9) {
    EXPECT_EQ(peak.utilization(achieved, Precision::Float32), achieved / 1e9);
  }
  EXPECT_EQ(peak.utilization(0.5e9, Precision::Float32), 0.5) << "a wrong count changes no peak";
  EXPECT_LE(measurements, 6) << "each of them stops the training";
}

}  // namespace
}  // namespace trireme::train
