// Goal:   the drawn faults are a function of seed and job, are valid for --chaos, and cover every
//         type of fault.
// Method: compares draws with each other; combines the draws of many jobs.

#include "tests/soak/draw.h"

#include <gtest/gtest.h>

#include <set>

#include "trireme/base/injected_fault.h"

namespace trireme::soak {
namespace {

DrawOptions options(std::uint64_t seed, int job) {
  return {.seed = seed, .job = job, .steps = 100, .workers = 4, .kinds = {"shared", "zero1"}};
}

std::string text_of(const Draw& draw) {
  std::string text = draw.kind + " " + draw.chaos;
  for (const Fault& fault : draw.faults) {
    text += " " + std::string(name_of(fault.kind)) + " " + std::to_string(fault.after.count()) +
            " " + std::to_string(fault.gap.count()) + " " + std::to_string(fault.victim);
  }
  return text;
}

TEST(SoakDraw, IsAFunctionOfSeedAndJob) {
  EXPECT_EQ(text_of(draw(options(3, 1))), text_of(draw(options(3, 1))));
  EXPECT_NE(text_of(draw(options(3, 1))), text_of(draw(options(3, 3))));
  EXPECT_NE(text_of(draw(options(3, 1))), text_of(draw(options(4, 1))));
}

TEST(SoakDraw, CyclesThroughTheKinds) {
  EXPECT_EQ(draw(options(3, 0)).kind, "shared");
  EXPECT_EQ(draw(options(3, 1)).kind, "zero1");
  EXPECT_EQ(draw(options(3, 2)).kind, "shared");
}

TEST(SoakDraw, CoversEveryKindOfFault) {
  std::set<std::string_view> kinds;
  std::set<std::string> moments;
  for (int job = 0; job < 20; ++job) {
    const Draw all = draw(options(1, job));
    for (const Fault& fault : all.faults) kinds.insert(name_of(fault.kind));
    for (const InjectedFault& one : parse_chaos(all.chaos)) {
      moments.insert(one.moment);
      EXPECT_LT(one.step, 100);
    }
  }
  EXPECT_EQ(kinds.size(), 7u);
  EXPECT_EQ(moments.size(), kMoments.size());
}

}  // namespace
}  // namespace trireme::soak
