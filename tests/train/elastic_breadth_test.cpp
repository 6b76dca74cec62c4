// Goal:   jobs with two optimizers or several tasks survive failures like other jobs.
// Method: elastic jobs of the real programs, a worker killed in its update or in backward;
//         their weights end bitwise equal to those of one undisturbed process.

#include <gmock/gmock.h>

#include "tests/train/elastic_job.h"

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

}  // namespace
}  // namespace trireme::train
