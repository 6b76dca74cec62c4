// Goal:   jobs with two optimizers or several tasks survive failures like other jobs, and jobs that
//         exclude a straggler from steps run as many samples as without failures.
// Method: elastic jobs of the real programs, a worker killed in its update or in backward;
//         their weights end bitwise equal to those of one undisturbed process.

#include <gmock/gmock.h>

#include "tests/train/elastic_job.h"
#include "trireme/train/report/checkpoint_meta.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;

class ElasticBreadth : public ElasticJob {
 protected:
  void expect_got_over(const std::string& chaos, const Words& words) {
    testing::CommandProcess process(job(chaos, words));
    EXPECT_EQ(process.wait_exit(Deadline::after(std::chrono::seconds(90))), 0)
        << process.out() << process.error();
    EXPECT_THAT(process.error(), HasSubstr("worker 2 was lost: killed by signal 9"));
    expect_same_bits_as(undisturbed(kElasticSteps, words));
    std::filesystem::remove_all(output());
  }
};

TEST_F(ElasticBreadth, TwoRulesFinishWhatADeadWorkerBegan) {
  // Cut anywhere, and at parameters' bounds.
  for (const char* kind : {"sgd", "muon"}) {
    SCOPED_TRACE(kind);
    expect_got_over("kill rank=2 step=12 at=update",
                    {"sync.kind=zero1", std::string("optim.second.kind=") + kind,
                     "optim.second.names=[\"layers.1.*\"]", "optim.second.lr=0.02"});
  }
}

TEST_F(ElasticBreadth, SeveralTasksGoOnWithoutAWorker) {
  expect_got_over(
      "kill rank=2 step=12 at=backward",
      {"model.kind=multitask", "model.weighting=uncertainty", "data.class_groups=[0, 1, 0, 1, 2]"});
}

// The excluded samples are run by others, also by the workers that replace those that died.
TEST_F(ElasticBreadth, EverySampleOfAnEpochCountsWhileAStragglerIsExcluded) {
  for (const char* kind : {"all_reduce", "shared", "zero2"}) {
    SCOPED_TRACE(kind);
    testing::CommandProcess process(
        job("slow rank=3 factor=20; kill rank=1 step=12 at=reduce; kill rank=2 step=22 at=update",
            {"train.logical_ranks=0", "train.steps=54", "sync.check_every=1",
             "balance.drop_stragglers=1", std::string("sync.kind=") + kind}));
    EXPECT_EQ(process.wait_exit(Deadline::after(std::chrono::seconds(90))), 0)
        << process.out() << process.error();
    EXPECT_THAT(events(), HasSubstr("left out"));
    EXPECT_THAT(events(), HasSubstr("workers joined"));
    const Progress progress = progress_in(newest());
    EXPECT_EQ(progress.samples, 6 * 200) << "six epochs";
    EXPECT_TRUE(progress.returned.empty());
    std::filesystem::remove_all(output());
  }
}

}  // namespace
}  // namespace trireme::train
