// Goal:   what --chaos asks for is understood, and what it cannot mean is refused with what it can.
// Method: texts in, mischief out.

#include "trireme/train/chaos.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

TEST(Chaos, IsReadAsItIsWritten) {
  const auto all = parse_chaos(
      " kill rank=2 step=20;stop rank=1 step=30 for=2s at=update ; slow rank=0 factor=3");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].kind, Mischief::Kind::Kill);
  EXPECT_EQ(all[0].worker, 2);
  EXPECT_EQ(all[0].step, 20);
  EXPECT_EQ(all[0].point, "step.forward");
  EXPECT_EQ(all[1].kind, Mischief::Kind::Stop);
  EXPECT_EQ(all[1].length, std::chrono::seconds(2));
  EXPECT_EQ(all[1].point, "update.chunk");
  EXPECT_EQ(all[2].factor, 3);
  EXPECT_TRUE(parse_chaos("").empty());
}

TEST(Chaos, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"explode rank=1", "kill", "kill rank=x", "kill rank=-1", "kill rank",
                           "kill rank=1 at=noon", "stop rank=1 for=soon", "kill rank=1 mood=bad"}) {
    try {
      parse_chaos(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      EXPECT_NE(std::string(error.what()).find("such as"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trireme::train
