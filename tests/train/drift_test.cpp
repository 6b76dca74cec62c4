// Goal:   a job whose replicas drift apart ends within sync.check_every steps, and names the
//         tensor.
// Method: whole jobs of threads, of which one changes a weight between two steps.

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;

struct Drifted {
  std::string error;
  std::int64_t step = 0;  // at which it ended
};

Drifted train_with_drift(const Words& words, std::int64_t at) {
  at::set_num_threads(1);
  const config::Config config = tiny_config("mlp", words);
  const auto groups = comm::connect_threads(2);
  std::vector<Drifted> all(2);
  testing::run_rank_threads(2, [&](int rank) {
    Job job = open_job(config, tiny_kinds(), groups[static_cast<std::size_t>(rank)]);
    Reporter reporter{Reporter::Options{}};
    const auto spoil = [&](const Progress& progress, const Outcome&) {
      const c10::NoGradGuard no_grad;
      if (rank == 1 && progress.step == at) job.model->parameters()[2].view({-1})[1] += 1;
    };
    Trainer trainer(job, {.reporter = &reporter, .after_step = spoil});
    Drifted& mine = all[static_cast<std::size_t>(rank)];
    try {
      trainer.run();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch);
      mine = {error.what(), trainer.progress().step};
    }
  });
  EXPECT_EQ(all[0].error, all[1].error);
  EXPECT_EQ(all[0].step, all[1].step);
  return all[0];
}

TEST(Drift, EndsTheJobAtTheNextComparison) {
  const Drifted found = train_with_drift({"sync.kind=all_reduce", "sync.check_every=4"}, 5);
  EXPECT_EQ(found.step, 8);
  EXPECT_THAT(found.error, HasSubstr("rank 1 have drifted from rank 0's"));
  EXPECT_THAT(found.error, HasSubstr("sync.check_every"));
}

TEST(Drift, IsNotCheckedByDefault) {
  EXPECT_EQ(train_with_drift({"sync.kind=all_reduce", "sync.check_every=0"}, 5).error, "");
}

}  // namespace
}  // namespace trireme::train
