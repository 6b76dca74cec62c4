// Goal:   the ranks of a fixed job start together, and the first one that fails ends the job.
// Method: the policy with ranks that are only recorded.

#include "trireme/cluster/launch/job_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cluster/launch/fake_ranks.h"
#include "trireme/cluster/launch/rank_control.h"
#include "trireme/cluster/launch/rank_listener.h"

namespace trireme::cluster::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kFailed = 3 << 8;  // in the format of wait(2)

JobSpec spec_of(int ranks) {
  JobSpec spec;
  spec.ranks = ranks;
  return spec;
}

TEST(FixedJob, StartsAllRanksOnceTheHostsAreReady) {
  PolicyJob job(spec_of(2));
  job.ranks.ready = false;
  job.policy->supervise();
  EXPECT_TRUE(job.ranks.started.empty());
  EXPECT_FALSE(job.policy->is_over());
  job.ranks.ready = true;
  job.policy->supervise();
  job.policy->supervise();
  ASSERT_EQ(job.ranks.started.size(), 2u);
  EXPECT_EQ(job.ranks.started[1].size, 2);
  EXPECT_TRUE(job.policy->is_over()) << "it lasts as long as these ranks do";
}

TEST(FixedJob, ARankThatFailsEndsTheJob) {
  PolicyJob job(spec_of(3));
  job.policy->supervise();
  job.ranks.end_rank({.rank = 2});
  EXPECT_FALSE(job.ending.has_begun());
  job.ranks.end_rank({.rank = 1, .status = kFailed, .host = "node2"});
  job.ranks.end_rank({.rank = 0, .status = SIGTERM, .signal_sent = SIGTERM});
  EXPECT_THAT(job.announced, ElementsAre("rank 1 failed"));
  EXPECT_THAT(job.events,
              ElementsAre(HasSubstr("rank ended {\"rank\":2"),
                          HasSubstr("rank failed {\"rank\":1,\"host\":\"node2\",\"how\":"),
                          HasSubstr("rank ended {\"rank\":0")));
}

TEST(FixedJob, RanksThatAreKilledBecauseAnotherOneCouldNotStartDidNotFail) {
  PolicyJob job(spec_of(2));
  job.policy->supervise();
  job.ranks.end_rank({.rank = 0, .status = SIGKILL, .signal_sent = SIGKILL});
  EXPECT_FALSE(job.ending.has_begun());
  EXPECT_THAT(job.events, ElementsAre(HasSubstr("rank ended {\"rank\":0")));
}

TEST(FixedJob, StartsNothingOnceTheJobIsEnding) {
  PolicyJob job(spec_of(2));
  job.ending.begin("a host cannot take part");
  job.policy->supervise();
  EXPECT_TRUE(job.ranks.started.empty());
}

}  // namespace
}  // namespace trireme::cluster::launch
