// Goal:   a job whose replicas are cut over ranks trains, evaluates and saves as one rank does,
// with
//         every strategy whose replicas stay equal; its checkpoints are resumed on other meshes.
//         So do jobs with averaged weights, in 16 bits and with losses that are not finite. What
//         does not fit is refused before anything is written.
// Method: whole jobs in float64, every rank a thread; their last checkpoints, with the optimizer's
//         state, are compared with those of one rank. Partial sums are added in another order, so
//         values may differ in their last bits: 1e-9.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

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

TEST_F(TensorParallelJob, OfAnMlpEqualsOneRank) {
  model_ = "mlp64";
  const auto words = [](Words more) {
    more.insert(more.end(), {"model.dropout=0.2", "eval.every=5", "train.steps=10"});
    return more;
  };
  run("one", words({}));
  run("two", words({"parallel.tensor=2"}), false, 2);
  run("four", words({"parallel.tensor=2", "sync.kind=zero1"}), false, 4);
  expect_near("one", "two");
  expect_near("one", "four");
}

TEST_F(TensorParallelJob, ResumesOnOtherMeshes) {
  run("whole", with({}));
  run("job", with({"parallel.tensor=2"}, 3), false, 4);
  run("job", with({}, 6), true, 1);
  run("job", with({"parallel.tensor=4"}, 8), true, 4);
  run("job", with({"sync.kind=zero1"}), true, 2);
  expect_near("whole", "job");
}

// Evaluations replace the weights by their averages, which every rank has of what it holds.
TEST_F(TensorParallelJob, AveragesWeights) {
  const Words average{"average.kind=ema", "average.decay=0.9"};
  const Ended one = run("one", with(average));
  for (const char* kind : {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero1"}) {
    for (const int ranks : {2, 4}) {
      SCOPED_TRACE(kind + std::to_string(ranks));
      const std::string folder = kind + std::to_string(ranks);
      Words words = average;
      words.insert(words.end(), {"parallel.tensor=2", kind});
      const Ended cut = run(folder, with(words), false, ranks);
      expect_near("one", folder);
      EXPECT_NEAR(cut.progress.best, one.progress.best, 1e-6);
    }
  }
  Words words = average;
  words.emplace_back("parallel.tensor=2");
  run("job", with(words, 5), false, 4);
  run("job", with(average), true, 1);
  expect_near("one", "job");
}

// Partial sums are rounded to 16 bits, too: results are about as far from those in float32 as the
// results of one rank.
TEST_F(TensorParallelJob, TrainsInSixteenBits) {
  model_ = "gpt";
  const auto words = [](const std::string& precision, Words more) {
    more.insert(more.end(), {"train.precision=" + precision, "optim.kind=sgd", "optim.lr=0.1",
                             "sync.check_every=1"});
    return with(more);
  };
  const auto distance = [&](const std::string& a, const std::string& b) {
    const auto left = newest(a), right = newest(b);
    double squares = 0;
    for (const std::string& name : left.names()) {
      squares += (left.read(name) - right.read(name)).square().sum().item<double>();
    }
    return std::sqrt(squares);
  };
  run("fp32", words("fp32", {}));
  for (const std::string precision : {"bf16", "fp16"}) {
    const Ended one = run(precision, words(precision, {}));
    const double rounding = distance("fp32", precision);
    EXPECT_GT(rounding, 0);
    for (const int ranks : {2, 4}) {
      SCOPED_TRACE(precision + " on " + std::to_string(ranks));
      const std::string folder = precision + std::to_string(ranks);
      const Ended cut = run(folder, words(precision, {"parallel.tensor=2"}), false, ranks);
      EXPECT_LT(distance("fp32", folder), 3 * rounding);
      EXPECT_EQ(cut.progress.updates, one.progress.updates);
      EXPECT_EQ(cut.progress.loss_scale, one.progress.loss_scale);
    }
  }
}

// Ranks of a replica skip the same steps, and lower the loss scale together.
TEST_F(TensorParallelJob, OverflowsOfOneRankAreThoseOfAll) {
  const Kinds kinds = tiny_kinds();
  const config::Config config =
      tiny_config("gpt", {"parallel.tensor=2", "train.precision=fp16"}, kinds);
  const auto groups = comm::connect_threads(2, {.timeout = timeout_});
  testing::run_rank_threads(2, [&](int rank) {
    Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
    const double before = job.step->loss_scale().scale();
    // The gradient of one shard is not finite.
    if (rank == 1) {
      job.model->named_parameters()["transformer.h.0.mlp.c_fc.weight"].register_hook(
          [](const at::Tensor& gradient) {
            return gradient * std::numeric_limits<float>::infinity();
          });
    }
    const Weights weights = weights_of(*job.model);
    EXPECT_FALSE(job.step->run(0).is_finite);
    EXPECT_EQ(job.step->loss_scale().scale(), before / 2);
    EXPECT_EQ(distance(weights_of(*job.model), weights), 0);
    job.group.barrier().wait();
  });
}

TEST_F(TensorParallelJob, LeavesOutLossesThatAreNotFinite) {
  model_ = "vit";
  for (const char* answer : {"skip", "rollback"}) {
    const Words words{"data.kind=poisoned", "data.task=images",
                      "data.sizes=[1,8,8]", "model.hidden_size=8",
                      "model.num_layers=1", "model.num_heads=2",
                      "checkpoint.every=2", "optim.kind=sgd",
                      "optim.lr=0.01",      "train.non_finite=" + std::string(answer)};
    const Ended one = run(std::string("one-") + answer, words);
    EXPECT_LT(one.progress.updates, one.progress.step);
    for (const int ranks : {2, 4}) {
      SCOPED_TRACE(answer + std::to_string(ranks));
      Words cut = words;
      cut.emplace_back("parallel.tensor=2");
      const std::string folder = answer + std::to_string(ranks);
      EXPECT_EQ(run(folder, cut, false, ranks).progress.updates, one.progress.updates);
      const auto left = newest(std::string("one-") + answer), right = newest(folder);
      for (const std::string& name : left.names()) {
        EXPECT_LT((left.read(name) - right.read(name)).abs().max().item<double>(), 1e-4) << name;
      }
    }
  }
}

// Only one rank's logits overflow. It must not leave the forward passes in which ranks look for the
// block before the others do.
TEST_F(TensorParallelJob, NamesABlockThatOverflowsOnOneRank) {
  const Kinds kinds = tiny_kinds();
  const config::Config config = tiny_config(
      "gpt", {"parallel.tensor=2", "model.tie_word_embeddings=false", "train.grad_accum_steps=2"},
      kinds);
  const auto groups = comm::connect_threads(2, {.timeout = timeout_});
  std::vector<std::string> told(2);
  testing::run_rank_threads(2, [&](int rank) {
    Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
    if (rank == 1) job.model->named_parameters()["lm_head.weight"].detach().fill_(3e38F);
    Reporter silent({});
    Trainer trainer(job, {.output = at("overflown"), .reporter = &silent});
    try {
      trainer.run();
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Diverged) << error.what();
      told[static_cast<std::size_t>(rank)] = error.message();
    }
  });
  EXPECT_THAT(told[0],
              ::testing::HasSubstr("first in a part of the model that another rank holds"));
  EXPECT_THAT(told[1], ::testing::HasSubstr("first in block "));
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
