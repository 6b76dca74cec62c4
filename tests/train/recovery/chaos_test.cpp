// Goal:   Chaos knows the fault point of every moment that a user can name, and injects a fault
//         only into its own worker and not before the step.
// Method: it stops this process for a millisecond, which the process detects by a child's SIGCONT.

#include "trireme/train/recovery/chaos.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "trireme/base/error.h"
#include "trireme/train/step.h"

namespace trireme::train {
namespace {

volatile sig_atomic_t g_continued = 0;

class ChaosTest : public ::testing::Test {
 protected:
  void SetUp() override {
    g_continued = 0;
    before_ = ::signal(SIGCONT, [](int) { g_continued = g_continued + 1; });
  }
  void TearDown() override { ::signal(SIGCONT, before_); }

 private:
  void (*before_)(int) = nullptr;
};

TEST_F(ChaosTest, KnowsThePointOfEveryMoment) {
  for (const std::string_view moment : kMoments) {
    Chaos chaos(0, parse_chaos("kill rank=0 step=5 at=" + std::string(moment)));
    EXPECT_NO_THROW(chaos.reached(kForward, 0)) << moment;
  }
}

// Without this check the test above could not fail.
TEST_F(ChaosTest, AMomentWithoutAPointIsAMistake) {
  Chaos chaos(0, {{.kind = InjectedFault::Kind::Kill, .step = 5, .moment = "afternoon"}});
  EXPECT_THROW(chaos.reached(kForward, 0), Error);
}

TEST_F(ChaosTest, StopsOnceAtItsStepAndMoment) {
  Chaos chaos(1, parse_chaos("stop rank=1 step=2 at=reduce for=1ms; kill rank=0 step=0 at=reduce"));
  chaos.begin_step(1);
  chaos.reached(kReduce, 0);
  chaos.begin_step(2);
  chaos.reached(kForward, 0);
  EXPECT_EQ(g_continued, 0);
  chaos.reached(kReduce, 0);
  EXPECT_EQ(g_continued, 1);
  chaos.begin_step(3);
  chaos.reached(kReduce, 0);
  EXPECT_EQ(g_continued, 1);
}

}  // namespace
}  // namespace trireme::train
