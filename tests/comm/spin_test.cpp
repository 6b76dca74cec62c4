// Goal:   ranks with a core each spin longer than ranks that must share cores.
// Method: one rank compared with more ranks than any machine has cores.

#include "trireme/comm/spin.h"

#include <gtest/gtest.h>

#include <thread>

namespace trireme::comm {
namespace {

TEST(Spin, RanksThatShareCoresSpinForLess) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  EXPECT_FALSE(is_crowded(1));
  EXPECT_FALSE(is_crowded(cores));
  EXPECT_TRUE(is_crowded(cores + 10000));
  EXPECT_GT(spin_for(1), spin_for(cores + 10000));
  EXPECT_GT(spin_for(cores + 10000).count(), 0);
}

TEST(Spin, NeverSpinsLongerThanASchedulerTimeSlice) {
  for (int ranks : {1, 2, 3, 7, 64, 100000}) {
    EXPECT_LE(spin_for(ranks), std::chrono::milliseconds(1)) << ranks;
  }
}

}  // namespace
}  // namespace trireme::comm
