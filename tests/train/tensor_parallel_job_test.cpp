// Goal:   a job whose replicas are cut over ranks trains, evaluates and saves as one rank does,
// with
//         every strategy whose replicas stay equal; its checkpoints are resumed on other meshes.
//         What does not fit is refused before anything is written.
// Method: whole jobs in float64, every rank a thread; their last checkpoints, with the optimizer's
//         state, are compared with those of one rank. Partial sums are added in another order, so
//         values may differ in their last bits: 1e-9.

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/parallel/parallel_config.h"
#include "trireme/testing/code_of.h"
#include "trireme/train/sharded_model.h"

namespace trireme::train {
namespace {

constexpr double kTolerance = 1e-9;

class TensorParallelJob : public TrainerTest {
 protected:
  TensorParallelJob() { model_ = "gpt64"; }

  static Words with(Words more, int steps = 10) {
    more.insert(more.end(),
                {"model.num_heads=4", "model.hidden_size=16", "model.dropout=0.1",
                 "model.attention_dropout=0.1", "optim.max_grad_norm=0.5", "eval.every=5",
                 "train.grad_accum_steps=2", "train.steps=" + std::to_string(steps)});
    return more;
  }

  void expect_near(const std::string& a, const std::string& b) const {
    const auto left = newest(a), right = newest(b);
    ASSERT_EQ(left.names(), right.names());
    EXPECT_EQ(left.step(), right.step());
    for (const std::string& name : left.names()) {
      EXPECT_LT((left.read(name) - right.read(name)).abs().max().item<double>(), kTolerance)
          << b << " " << name;
    }
  }
};

TEST_F(TensorParallelJob, EqualsOneRank) {
  const Ended one = run("one", with({}));
  struct Case {
    int ranks;
    Words words;
  };
  const std::vector<Case> cases = {
      {2, {"parallel.tensor=2"}},
      {4, {"parallel.tensor=4"}},
      {4, {"parallel.tensor=2", "parallel.data=2", "sync.kind=all_reduce"}},
      {4, {"parallel.tensor=2", "sync.kind=shared"}},
      {4, {"parallel.tensor=2", "sync.kind=zero1"}},
      {4, {"parallel.tensor=2", "sync.kind=zero3"}},
      {2, {"parallel.tensor=2", "model.activation_checkpointing=true"}},
      {2, {"parallel.tensor=2", "train.logical_ranks=2"}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].words.back());
    const std::string folder = "cut" + std::to_string(i);
    const Ended cut = run(folder, with(cases[i].words), false, cases[i].ranks);
    expect_near("one", folder);
    EXPECT_NEAR(cut.progress.best, one.progress.best, 1e-6) << "evaluations are in float32";
  }
}

TEST_F(TensorParallelJob, ResumesOnOtherMeshes) {
  run("whole", with({}));
  run("job", with({"parallel.tensor=2"}, 3), false, 4);
  run("job", with({}, 6), true, 1);
  run("job", with({"parallel.tensor=4"}, 8), true, 4);
  run("job", with({"sync.kind=zero1"}), true, 2);
  expect_near("whole", "job");
}

TEST_F(TensorParallelJob, RefusesWhatDoesNotFit) {
  const auto code_of = [&](Words words, int ranks) {
    return testing::code_of([&] { run("refused", with(std::move(words)), false, ranks); });
  };
  EXPECT_EQ(code_of({"parallel.tensor=2"}, 3), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.tensor=2", "parallel.data=2"}, 2), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.tensor=3"}, 3), ErrorCode::InvalidInput) << "four heads";
  EXPECT_EQ(code_of({"parallel.tensor=2", "optim.kind=lamb"}, 2), ErrorCode::Unsupported);
  EXPECT_EQ(code_of({"parallel.tensor=2", "model.lora_rank=2"}, 2), ErrorCode::Unsupported);
  EXPECT_EQ(code_of({"parallel.tensor=2", "sync.kind=diloco"}, 4), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.tensor=2", "loss.kind=focal"}, 2), ErrorCode::Unsupported);
  EXPECT_EQ(code_of({"parallel.tensor=2", "model.freeze=[\"*.h.0.*\"]"}, 2),
            ErrorCode::Unsupported);
  EXPECT_EQ(code_of({"parallel.tensor=2", "sync.kind=delayed"}, 4), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.tensor=2", "sync.codec.kind=int8"}, 4), ErrorCode::InvalidInput);
  EXPECT_FALSE(fs::exists(at("refused") / "checkpoints"));
}

}  // namespace
}  // namespace trireme::train
