// Goal:   the measured peak is plausible, and a utilization is reported only if it can be right:
//         never for a peak that was measured too low, never above 1.
// Method: measured once; the rest with measurements that the test makes up.

#include "trireme/train/report/peak_flops.h"

#include <gtest/gtest.h>

#include "trireme/device/torch/torch_device.h"

namespace trireme::train {
namespace {

TEST(PeakFlops, IsWithinWhatMachinesDo) {
  const double peak = measure_peak_flops(Precision::BFloat16);
  EXPECT_GT(peak, 1e7);
  EXPECT_LT(peak, 1e15);
}

TEST(PeakFlops, OfAGpuIsMeasuredThere) {
  if (gpu_count() == 0) GTEST_SKIP() << "this machine or this PyTorch has no GPU";
  const double peak = measure_peak_flops(Precision::BFloat16, at::kCUDA);
  EXPECT_GT(peak, 1e12);
  EXPECT_LT(peak, 1e16);
}

TEST(PeakFlops, TheBestMeasurementCounts) {
  std::vector<double> busy{4e9, 10e9, 9e9};
  std::size_t next = 0;
  PeakFlops peak([&](Precision) { return busy.at(next++); });
  EXPECT_EQ(peak.value(), 0);
  for (const double best : {4e9, 10e9, 10e9}) {
    EXPECT_FALSE(peak.is_trusted());
    peak.measure(Precision::Float32);
    EXPECT_EQ(peak.value(), best);
  }
  EXPECT_EQ(peak.utilization(5e9, Precision::Float32), 0.5);
  EXPECT_EQ(next, 3U) << "nothing to find out below a trusted peak";
}

// A job began on a busy machine: 0.5 of a peak that was 17 times too low.
TEST(PeakFlops, NothingIsReportedBeforeMeasurementsAgree) {
  std::vector<double> measured{1e9, 1.4e9, 2.1e9, 17e9, 16e9};
  std::size_t next = 0;
  PeakFlops peak([&](Precision precision) {
    EXPECT_EQ(precision, Precision::BFloat16);
    return measured.at(next++);
  });
  peak.measure(Precision::BFloat16);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(peak.utilization(0.5e9, Precision::BFloat16), std::nullopt) << i;
  }
  EXPECT_EQ(peak.utilization(1.7e9, Precision::BFloat16), 0.1);
}

TEST(PeakFlops, AMachineThatNeverSettlesIsTrustedAfterSixMeasurements) {
  double flops = 1e9;
  PeakFlops peak([&](Precision) { return flops *= 2; });
  for (int i = 1; i < 6; ++i) peak.measure(Precision::Float32);
  EXPECT_FALSE(peak.is_trusted());
  EXPECT_EQ(peak.utilization(32e9, Precision::Float32), 0.5) << "measures a sixth time";
}

TEST(PeakFlops, NoUtilizationIsAboveOne) {
  int measurements = 0;
  PeakFlops peak([&](Precision) { return ++measurements, 1e9; });
  for (double achieved = 2e9; achieved < 50e9; achieved += 1e9) {
    EXPECT_EQ(peak.utilization(achieved, Precision::Float32), std::nullopt);
  }
  EXPECT_EQ(peak.utilization(0.5e9, Precision::Float32), 0.5) << "a wrong count changes no peak";
  EXPECT_LE(measurements, 10) << "each of them stops the training";
}

}  // namespace
}  // namespace trireme::train
