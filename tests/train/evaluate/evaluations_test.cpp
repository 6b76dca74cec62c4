// Goal:   weights are evaluated once per step, the best score is kept, and training ends when
//         evaluations are no longer better. Data-parallel replicas share the samples, and every
//         rank can stop the evaluation.
// Method: a tiny job without training, whose score does not change; a mesh of two replicas of two
//         ranks, with a model that counts its passes.

#include "trireme/train/evaluate/evaluations.h"

#include "tests/mesh/mesh_threads.h"
#include "tests/train/trainer_fixture.h"

namespace trireme::train {
namespace {

class EvaluationsTest : public TrainerTest {};

TEST_F(EvaluationsTest, PatienceEndsWithTheSecondScoreThatIsNotBetter) {
  Job job = open_job(tiny_config("mlp", {"eval.patience=2", "eval.every=3"}), tiny_kinds());
  Reporter reporter({});
  JobState state;
  state.progress.metric = job.eval().metric;
  const std::atomic<bool> is_stop_wanted{false};
  Evaluations evaluations(
      {.job = &job, .state = &state, .reporter = &reporter, .is_stop_wanted = &is_stop_wanted});
  for (const std::int64_t step : {3, 6, 9}) {
    EXPECT_TRUE(evaluations.has_patience()) << step;
    state.progress.step = step;
    EXPECT_TRUE(evaluations.are_due());
    ASSERT_TRUE(evaluations.are_open());
    EXPECT_TRUE(evaluations.run());
    EXPECT_FALSE(evaluations.are_open());
    EXPECT_EQ(state.score, evaluations.scores()->value_of(state.progress.metric));
  }
  EXPECT_EQ(state.progress.best_step, 3);
  EXPECT_FALSE(evaluations.has_patience());
  state.progress.step = 10;
  EXPECT_FALSE(evaluations.are_due());
}

TEST_F(EvaluationsTest, AreGivenUpWhenTheJobHasToStop) {
  Job job = open_job(tiny_config("mlp", {}), tiny_kinds());
  Reporter reporter({});
  JobState state;
  state.progress.metric = job.eval().metric;
  const std::atomic<bool> is_stop_wanted{true};
  Evaluations evaluations(
      {.job = &job, .state = &state, .reporter = &reporter, .is_stop_wanted = &is_stop_wanted});
  EXPECT_FALSE(evaluations.run());
  EXPECT_FALSE(evaluations.scores());
}

TEST_F(EvaluationsTest, ReplicasShareTheSamplesAndEveryRankCanStop) {
  at::set_num_threads(1);
  const config::Config config = tiny_config("counted64", {"eval.batch_size=2"});
  mesh::run_mesh_threads([&](const mesh::Mesh& mesh) {
    Job job = open_job(config, tiny_kinds(), mesh.group(kDataAxis));
    job.group = mesh.all();
    job.mesh = mesh;
    Reporter reporter({});
    for (const bool is_asked : {true, false}) {
      JobState state;
      state.progress.metric = job.eval().metric;
      const std::atomic<bool> is_stop_wanted{is_asked && mesh.all().rank() == 3};
      Evaluations evaluations(
          {.job = &job, .state = &state, .reporter = &reporter, .is_stop_wanted = &is_stop_wanted});
      EXPECT_EQ(evaluations.run(), !is_asked);
      EXPECT_EQ(evaluations.scores() ? evaluations.scores()->answers() : 0, is_asked ? 0 : 11);
    }
    EXPECT_EQ(job.model->buffers()[0].item<double>(), 3) << "11 samples in batches of 2 x 2";
    mesh.all().barrier().wait();
  });
}

}  // namespace
}  // namespace trireme::train
