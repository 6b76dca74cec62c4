// Goal:   an elastic job starts as many workers as there is room for, records them for a launcher
//         that takes over, and continues where that launcher finds it.
// Method: the policy with ranks that are only recorded, and a store that does not answer.

#include "trireme/cluster/launch/elastic/elastic_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cluster/launch/fake_ranks.h"

namespace trireme::cluster::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

JobSpec elastic_spec(int ranks) {
  JobSpec spec;
  spec.ranks = ranks;
  spec.elastic = Elastic{.resume_arguments = {"--resume"}};
  return spec;
}

class ElasticPolicy : public ::testing::Test {
 protected:
  void SetUp() override {
    job_.policy->begin(false);
    job_.policy->supervise();
  }
  // Another launcher takes over.
  void replace_launcher() {
    job_.ranks.alive.clear();
    job_.ranks.started.clear();
    job_.make_policy();
    job_.policy->begin(true);
    job_.policy->supervise();
  }
  job::WorkerList recorded() const {
    return job::WorkerList::load(job_.folder.worker_list()).value_or(job::WorkerList{});
  }

  PolicyJob job_{elastic_spec(3)};
};

TEST_F(ElasticPolicy, RecordsItsWorkersForALauncherThatTakesOver) {
  EXPECT_EQ(job_.ranks.started.size(), 3u);
  job_.ranks.end_rank({.rank = 1, .status = SIGKILL});
  EXPECT_EQ(recorded().next, 3);
  ASSERT_EQ(recorded().members.size(), 2u);
  EXPECT_EQ(recorded().members[1].worker, 2);
  replace_launcher();
  EXPECT_THAT(job_.ranks.alive, ElementsAre(0, 2, 3)) << "and worker 1 is replaced";
  EXPECT_TRUE(job_.ranks.started.front().arguments.empty()) << "it joins the others";
  EXPECT_THAT(job_.events, ::testing::Contains(HasSubstr("launcher replaced")));
}

// The launcher was killed after the last worker had died, and before it had restarted the job.
TEST_F(ElasticPolicy, ResumesWhenALauncherTakesOverWithoutWorkers) {
  for (const int worker : {0, 1, 2}) job_.ranks.end_rank({.rank = worker, .status = SIGKILL});
  EXPECT_TRUE(recorded().members.empty());
  replace_launcher();
  ASSERT_EQ(job_.ranks.started.size(), 3u);
  EXPECT_EQ(job_.ranks.started.front().rank, 3);
  EXPECT_THAT(job_.ranks.started.front().arguments, ElementsAre("--resume"));
  EXPECT_THAT(job_.events, ::testing::Contains(HasSubstr("job restarted")))
      << "the members of the last epoch would count as dead workers with nobody to join";
}

class Asking final : public net::Caller {
 public:
  void reply(ByteView payload) override { worker = ByteReader(payload).get<std::int32_t>(); }
  void fail(const Error& error) override { failure = error.message(); }
  bool send_item(ByteView) override { return false; }
  void end() override {}

  int worker = -1;
  std::string failure;
};

TEST_F(ElasticPolicy, AJoinWaitsForADismissedWorkerToEnd) {
  using Kind = job::ControlRequest::Kind;
  const auto scaled = std::make_shared<Asking>();
  job_.policy->on_request({.kind = Kind::Scale, .count = 2, .caller = scaled});
  EXPECT_EQ(scaled->worker, 2);
  const auto joining = std::make_shared<Asking>();
  job_.policy->on_request({.kind = Kind::Join, .caller = joining});
  EXPECT_EQ(joining->worker, -1) << "three workers are still there";
  EXPECT_EQ(joining->failure, "");
  job_.ranks.end_rank({.rank = 2, .status = kExitDismissed << 8});
  job_.policy->supervise();
  EXPECT_EQ(joining->worker, 3);
}

TEST_F(ElasticPolicy, AJoinFailsIfNoWorkerCanBeStarted) {
  job_.ranks.can_start = 0;
  const auto joining = std::make_shared<Asking>();
  job_.policy->on_request({.kind = job::ControlRequest::Kind::Join, .caller = joining});
  EXPECT_THAT(joining->failure, HasSubstr("no more processes"));
}

TEST_F(ElasticPolicy, AWorkerThatIsRefusedAfterTheEndChangesNothing) {
  job_.policy->end();
  job_.ranks.end_rank({.rank = 2, .status = kExitRefused << 8});
  EXPECT_EQ(job_.ranks.started.size(), 3u);
}

TEST(ElasticStart, RecordsTheJobBeforeAnyWorkerIsStarted) {
  PolicyJob job(elastic_spec(3));
  job.policy->begin(false);
  EXPECT_TRUE(job::WorkerList::load(job.folder.worker_list()).has_value())
      << "for a launcher that takes over while hosts connect";
}

TEST_F(ElasticPolicy, AnEndingJobDoesNotWakeTheLauncher) {
  job_.ranks.end_rank({.rank = 1, .status = SIGKILL});
  EXPECT_FALSE(job_.policy->next().is_never()) << "it has to decide";
  job_.policy->end();
  EXPECT_TRUE(job_.policy->next().is_never());
}

TEST(ElasticStart, ContinuesWithTheWorkersThatCanBeStarted) {
  PolicyJob job(elastic_spec(3));
  job.ranks.can_start = 2;
  job.policy->begin(false);
  job.policy->supervise();
  EXPECT_EQ(job.ranks.alive.size(), 2u);
  EXPECT_EQ(job.policy->wanted(), 2);
  EXPECT_FALSE(job.ending.has_begun());
}

TEST(ElasticStart, WaitsForHosts) {
  PolicyJob job(elastic_spec(3));
  job.policy->begin(false);
  job.ranks.room_max = 0;
  job.policy->supervise();
  EXPECT_TRUE(job.ranks.started.empty());
  job.ranks.room_max = 2;
  job.policy->supervise();
  EXPECT_EQ(job.ranks.started.size(), 2u);
  EXPECT_EQ(job.ranks.started[0].size, 3) << "the others start once their host is back";
}

}  // namespace
}  // namespace trireme::cluster::launch
