// Goal:   a job is never restarted because its launcher knows only an earlier set of members.
// Method: handwritten values.

#include "trireme/cluster/launch/elastic/known_members.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch {
namespace {

TEST(KnownMembers, AreReadAgainAfterEveryEndOfAWorker) {
  KnownMembers members;
  EXPECT_TRUE(members.set({0, 1}));
  EXPECT_FALSE(members.set({0, 1})) << "nothing has changed";
  EXPECT_TRUE(members.has_any([](int worker) { return worker == 1; }));
  EXPECT_TRUE(members.should_confirm());
  EXPECT_FALSE(members.should_confirm()) << "they are being read";
  members.confirm({2});
  EXPECT_TRUE(members.is_confirmed());
  EXPECT_FALSE(members.has_any([](int worker) { return worker == 1; }));
  members.expire();
  EXPECT_FALSE(members.is_confirmed());
  EXPECT_TRUE(members.should_confirm());
}

TEST(KnownMembers, ReadBeforeAnEndConfirmNothing) {
  KnownMembers members;
  EXPECT_TRUE(members.should_confirm());
  members.expire();
  members.confirm({0});
  EXPECT_FALSE(members.is_confirmed());
}

}  // namespace
}  // namespace trireme::cluster::launch
