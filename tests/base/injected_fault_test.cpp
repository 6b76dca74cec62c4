// Goal:   texts for --chaos are parsed as intended, or refused with a reason.
// Method: tables of texts.

#include "trireme/base/injected_fault.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme {
namespace {

using namespace std::chrono_literals;

TEST(InjectedFault, ParsesValidTexts) {
  const auto all = parse_chaos(
      "kill rank=2 step=20; stop rank=1 step=30 for=2s at=update ;slow rank=0 factor=3;"
      "doubt rank=0 whom=3 step=4; hang rank=4 step=5 for=3s");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].kind, InjectedFault::Kind::Kill);
  EXPECT_EQ(all[0].worker, 2);
  EXPECT_EQ(all[0].step, 20);
  EXPECT_EQ(all[0].moment, "forward");
  EXPECT_EQ(all[1].kind, InjectedFault::Kind::Stop);
  EXPECT_EQ(all[1].length, 2s);
  EXPECT_EQ(all[1].moment, "update");
  EXPECT_EQ(all[2].kind, InjectedFault::Kind::Slow);
  EXPECT_EQ(all[2].factor, 3);
  EXPECT_TRUE(all[1].is_loss());
  EXPECT_FALSE(all[2].is_loss());
  EXPECT_EQ(all[3].kind, InjectedFault::Kind::Doubt);
  EXPECT_EQ(all[3].whom, 3);
  EXPECT_TRUE(all[3].is_loss());
  EXPECT_EQ(all[4].kind, InjectedFault::Kind::Hang);
  EXPECT_EQ(all[4].length, 3s);
}

TEST(InjectedFault, EmptyTextGivesNoFaults) {
  EXPECT_TRUE(parse_chaos("").empty());
  EXPECT_TRUE(parse_chaos(" ; ;").empty());
}

TEST(InjectedFault, ParsesEveryFaultPoint) {
  for (const std::string_view moment : kMoments) {
    EXPECT_EQ(parse_chaos("kill rank=0 at=" + std::string(moment)).at(0).moment, moment);
  }
}

TEST(InjectedFault, RefusesInvalidTexts) {
  for (const char* text :
       {"burn rank=1", "kill", "kill step=3", "kill rank", "kill rank=", "kill rank=x",
        "kill rank=-1", "kill rank=1 step=1.5", "kill rank=1 when=2", "kill rank=1 at=noon",
        "stop rank=1 for=2", "slow rank=1 factor=nan", "slow rank=1 factor=inf",
        "doubt rank=1 step=2", "doubt rank=1 whom=1", "doubt rank=1 whom=-2"}) {
    try {
      parse_chaos(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << text;
      EXPECT_NE(error.message().find("such as"), std::string::npos) << error.message();
    }
  }
}

}  // namespace
}  // namespace trireme
