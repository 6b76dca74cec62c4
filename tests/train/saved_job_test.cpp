// Goal:   a job's state and its weights come back from its checkpoint, and a state that is saved is
//         not saved again; a killed writer's temporary file is removed.
// Method: a tiny job by hand: saved, changed, restored.

#include "trireme/train/saved_job.h"

#include "tests/train/trainer_fixture.h"

namespace trireme::train {
namespace {

class SavedJobTest : public TrainerTest {};

TEST_F(SavedJobTest, RestoresWhatItSaved) {
  Job job = open_job(tiny_config("mlp", {}), tiny_kinds());
  Reporter reporter({});
  JobState state;
  state.progress.recipe = job.config.to_toml();
  state.progress.job_hash = job.hash;
  state.progress.metric = job.eval().metric;
  Stopwatch watch;
  int checks = 0;
  fs::create_directories(at("job"));
  const fs::path stale = at("job") / ".config.toml.0123456789abcdef.trireme-tmp";
  write_file_atomically(stale, "of a writer that was killed");
  SavedJob saved({.job = &job,
                  .state = &state,
                  .watch = &watch,
                  .reporter = &reporter,
                  .folder = at("job"),
                  .allowed_changes = {},
                  .faults = nullptr,
                  .check = [&](const auto&) { ++checks; }});
  saved.open(/*is_resumed=*/false);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_FALSE(state.progress.job_id.empty());
  job.step->run(0);
  const Weights before = weights_of(*job.model);
  state.progress.step = 1;
  state.progress.position = job.loader().position();
  saved.save();
  saved.save();
  EXPECT_EQ(checks, 1);
  saved.checkpoints()->finish();

  job.step->run(1);
  state.progress.step = 2;
  EXPECT_GT(distance(weights_of(*job.model), before), 0);
  saved.restore(saved.checkpoints()->newest().value());
  EXPECT_EQ(state.progress.step, 1);
  EXPECT_EQ(distance(weights_of(*job.model), before), 0);
}

}  // namespace
}  // namespace trireme::train
