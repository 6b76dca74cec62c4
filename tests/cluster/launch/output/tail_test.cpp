// Goal:   the last lines are kept, and no more.
// Method: more and longer lines than the bounds allow.

#include "trireme/cluster/launch/output/tail.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch::output {
namespace {

TEST(Tail, KeepsTheLastLines) {
  Tail tail(3);
  EXPECT_TRUE(tail.lines().empty());
  for (int i = 0; i < 10; ++i) tail.add(std::to_string(i));
  EXPECT_EQ(tail.lines(), (std::deque<std::string>{"7", "8", "9"}));
}

TEST(Tail, CutsLongLines) {
  Tail tail(2, 4);
  tail.add("1234");
  tail.add("12345");
  EXPECT_EQ(tail.lines(), (std::deque<std::string>{"1234", "1234..."}));
}

TEST(Tail, WithACapacityOfZeroKeepsNothing) {
  Tail tail(0);
  tail.add("x");
  EXPECT_TRUE(tail.lines().empty());
}

}  // namespace
}  // namespace trireme::cluster::launch::output
