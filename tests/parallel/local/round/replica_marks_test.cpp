// Goal:   the mark of a prepared step holds its figures; a replica of one rank records nothing,
//         because its replica is lost with it.
// Method: a mark by hand; marks without a host. Those of hosts are tested with failures
// (elastic_hosts_test.cpp).

#include "trireme/parallel/local/round/replica_marks.h"

#include <gtest/gtest.h>

namespace trireme::parallel::local {
namespace {

TEST(ReplicaMarks, OfPreparedStepsHoldTheirFigures) {
  const Prepared prepared{.step = 12, .figures = {1, 0, 0, 1, 1}};
  EXPECT_EQ(prepared_of(mark_of(prepared)), prepared);
  EXPECT_EQ(prepared_of(RoundAction{.step = 12}.mark()).step, -1) << "the end of a round";
  EXPECT_EQ(prepared_of(0).step, -1);
}

TEST(ReplicaMarks, OfOneRankRecordNothing) {
  ReplicaMarks marks(nullptr);
  marks.begin(4);
  marks.prepare({.step = 4, .figures = {1, 0, 0, 0, 0}});
  marks.set(RoundAction{.step = 4}.mark());
  marks.read();
  EXPECT_TRUE(marks.prepared(4).empty());
  EXPECT_FALSE(marks.has_begun({.step = 4}));
}

}  // namespace
}  // namespace trireme::parallel::local
