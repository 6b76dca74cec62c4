// Goal:   a replica of one rank records nothing, because its replica is lost with it.
// Method: marks without a host. Those of hosts are tested with failures (elastic_hosts_test.cpp).

#include "trireme/parallel/local/round/replica_marks.h"

#include <gtest/gtest.h>

namespace trireme::parallel::local {
namespace {

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
