// Goal:   jobs with a mean of the weights, a rate that follows evaluations and rules of whole
//         parameters go on as if they had never been cut short; a checkpoint has the mean.
// Method: whole jobs in this process, on one rank and on threads, compared by their checkpoints.

#include "trireme/train/averaged_weights.h"

#include "tests/train/trainer_fixture.h"
#include "trireme/checkpoint/load_into.h"
#include "trireme/train/evaluate/evaluation.h"

namespace trireme::train {
namespace {

class ResumedRules : public TrainerTest {};

TEST_F(ResumedRules, MeansAndPlateausGoOn) {
  const Words words{"average.kind=ema",
                    "average.decay=0.9",
                    "eval.every=3",
                    "train.seed=5",
                    "schedule.kind=reduce_on_plateau",
                    "schedule.factor=0.5",
                    "schedule.patience=1",
                    "schedule.threshold=1",
                    "checkpoint.every=3"};
  const Ended undisturbed = run("whole", words);
  EXPECT_EQ(undisturbed.progress.plateau.factor, 0.25);
  Words fewer = words;
  fewer.emplace_back("train.steps=10");
  run("cut", fewer);
  run("cut", words, true);
  expect_same_end("whole", "cut");
}

TEST_F(ResumedRules, RulesOfWholeParametersGoOnOnOtherRanks) {
  for (const char* rule : {"optim.kind=muon", "optim.kind=lamb", "optim.kind=adafactor"}) {
    const Words words{rule, "average.kind=swa", "average.begin=4", "average.every=3",
                      "train.logical_ranks=4"};
    const std::string whole = std::string("whole-") + (rule + 11);
    run(whole, words);
    for (const char* how : {"sync.kind=all_reduce", "sync.kind=shared"}) {
      const std::string cut = std::string(how + 10) + (rule + 10);
      Words first = words;
      first.insert(first.end(), {how, "train.steps=7"});
      Words then = words;
      then.emplace_back(how);
      run(cut, first, false, 2);
      run(cut, then, true, 3);
      expect_same_end(whole, cut);
    }
  }
}

// What the job's last evaluation looked at is what others read from its checkpoint.
TEST_F(ResumedRules, ACheckpointHasTheMean) {
  const Words words{"average.kind=ema", "average.decay=0.9"};
  const Ended ended = run("job", words);
  const config::Config config = tiny_config("mlp", words, tiny_kinds());
  Job job = open_job(config, tiny_kinds());
  const auto loss_now = [&] {
    return evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get()}).loss();
  };
  checkpoint::load_into(*job.model, checkpoint::open_tensors(newest("job")),
                        {.is_rest_ignored = true});
  EXPECT_EQ(distance(weights_of(*job.model), ended.weights), 0);
  EXPECT_NE(loss_now(), ended.progress.best);
  read_average(*job.model, newest("job"));
  EXPECT_DOUBLE_EQ(loss_now(), ended.progress.best);
}

}  // namespace
}  // namespace trireme::train
