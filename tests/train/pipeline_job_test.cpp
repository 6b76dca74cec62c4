// Goal:   a job whose replicas are divided into stages trains, evaluates and saves as one rank
// does,
//         with every schedule, number of stages and of micro-batches, together with data and tensor
//         parallelism; its checkpoints are resumed on other meshes. Without tied weights and
//         reductions, results are those of one rank bit for bit. What does not fit is refused
//         before anything is written.
// Method: whole jobs in float64, every rank a thread; their last checkpoints, with the optimizer's
//         state, are compared with those of one rank: 1e-9 where sums are added in another order.

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/parallel/parallel_config.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

constexpr double kStagesTolerance = 1e-9;

class PipelineJob : public TrainerTest {
 protected:
  PipelineJob() { model_ = "gpt64"; }

  static Words staged(Words more, int steps = 10) {
    more.insert(more.end(), {"model.num_heads=4", "model.hidden_size=16", "model.dropout=0.1",
                             "model.attention_dropout=0.1", "optim.max_grad_norm=0.5",
                             "eval.every=5", "train.steps=" + std::to_string(steps)});
    return more;
  }

  double distance_of(const std::string& a, const std::string& b) const {
    const auto left = newest(a), right = newest(b);
    EXPECT_EQ(left.names(), right.names());
    EXPECT_EQ(left.step(), right.step());
    double most = 0;
    for (const std::string& name : left.names()) {
      const double off = (left.read(name) - right.read(name)).abs().max().item<double>();
      most = std::isnan(off) ? 1 : std::max(most, off);
    }
    return most;
  }
  void expect_stages_near(const std::string& a, const std::string& b) const {
    EXPECT_LT(distance_of(a, b), kStagesTolerance) << b;
  }
};

TEST_F(PipelineJob, EqualsOneRank) {
  struct Case {
    int ranks;
    Words words;
  };
  const std::vector<Case> cases = {
      {2, {"parallel.pipe=2"}},
      {2, {"parallel.pipe=2", "parallel.schedule=gpipe"}},
      {3, {"parallel.pipe=3", "parallel.split=layers"}},
      {2, {"parallel.pipe=2", "parallel.schedule=interleaved_1f1b"}},
      {2, {"parallel.pipe=2", "parallel.split_points=[\"transformer.h.1\"]"}},
      {2, {"parallel.pipe=2", "model.activation_checkpointing=true"}},
      {4, {"parallel.pipe=2", "parallel.data=2", "sync.kind=all_reduce"}},
      {4, {"parallel.pipe=2", "sync.kind=shared"}},
      {4, {"parallel.pipe=2", "sync.kind=zero2"}}};
  for (const int micro_batches : {1, 2, 5}) {
    const std::string count = "train.grad_accum_steps=" + std::to_string(micro_batches);
    const std::string one_folder = "one" + std::to_string(micro_batches);
    const Ended one = run(one_folder, staged({count}));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(count + " " + cases[i].words.back());
      const std::string folder = "cut" + std::to_string(micro_batches) + "-" + std::to_string(i);
      Words words = cases[i].words;
      words.push_back(count);
      const Ended cut = run(folder, staged(words), false, cases[i].ranks);
      expect_stages_near(one_folder, folder);
      EXPECT_NEAR(cut.progress.best, one.progress.best, 1e-6) << "evaluations are in float32";
    }
  }
}

// One rank adds up more than two micro-batches along a tree.
TEST_F(PipelineJob, GivesTheSameBitsWithoutTiedWeightsAndClipping) {
  const auto plain = [](Words more) {
    more.insert(more.end(), {"model.tie_word_embeddings=false", "optim.max_grad_norm=0",
                             "train.grad_accum_steps=2", "train.steps=4"});
    return more;
  };
  run("one", plain({}));
  int number = 0;
  for (const Words& words :
       {Words{"parallel.pipe=2"}, Words{"parallel.pipe=2", "parallel.schedule=gpipe"},
        Words{"parallel.pipe=2", "model.activation_checkpointing=true"}}) {
    const std::string folder = "cut" + std::to_string(++number);
    run(folder, plain(words), false, 2);
    EXPECT_EQ(distance_of("one", folder), 0) << words.back();
  }
}

// Optimizers that need whole weights have them; averages of a tied weight reach all stages.
TEST_F(PipelineJob, RunsEveryOptimizer) {
  for (const char* optimizer : {"lamb", "muon", "adafactor"}) {
    const std::string kind = std::string("optim.kind=") + optimizer;
    const Words common = {"train.grad_accum_steps=2", kind, "average.kind=ema"};
    const std::string one_folder = std::string(optimizer) + "-one";
    const Ended one = run(one_folder, staged(common));
    Words words = common;
    words.push_back("parallel.pipe=2");
    const Ended two = run(optimizer, staged(words), false, 2);
    expect_stages_near(one_folder, optimizer);
    EXPECT_NEAR(two.progress.best, one.progress.best, 1e-6) << optimizer;
  }
}

TEST_F(PipelineJob, RunsWithTensorParallelism) {
  const Words untied = {"model.tie_word_embeddings=false", "train.grad_accum_steps=2"};
  const auto with = [&](Words more) {
    more.insert(more.end(), untied.begin(), untied.end());
    return staged(more);
  };
  run("one", with({}));
  run("four", with({"parallel.pipe=2", "parallel.tensor=2"}), false, 4);
  expect_stages_near("one", "four");
  run("eight",
      with({"parallel.pipe=2", "parallel.tensor=2", "parallel.data=2", "sync.check_every=2"}),
      false, 8);
  expect_stages_near("one", "eight");
  // A tied embedding is cut in the same way on the first stage and the last.
  run("tied-one", staged({}));
  for (const char* schedule : {"1f1b", "interleaved_1f1b"}) {
    const std::string folder = std::string("tied-") + schedule;
    run(folder,
        staged(
            {"parallel.pipe=2", "parallel.tensor=2", std::string("parallel.schedule=") + schedule}),
        false, 4);
    expect_stages_near("tied-one", folder);
  }
  model_ = "mlp64";
  const Words mlp = {"model.hidden_sizes=[8, 8, 8]", "train.steps=10", "eval.every=5"};
  run("mlp-one", mlp);
  Words words = mlp;
  words.insert(words.end(), {"parallel.pipe=2", "parallel.tensor=2"});
  run("mlp-four", words, false, 4);
  expect_stages_near("mlp-one", "mlp-four");
}

TEST_F(PipelineJob, DecidesTogetherWhatIsNotFinite) {
  model_ = "mlp";
  const Words common = {"data.kind=poisoned", "train.grad_accum_steps=2", "train.steps=8"};
  const auto with = [&](Words more) {
    more.insert(more.end(), common.begin(), common.end());
    return more;
  };
  EXPECT_EQ(testing::code_of([&] { run("stopped", with({"parallel.pipe=2"}), false, 2); }),
            ErrorCode::Diverged);
  const Ended one = run("one", with({"train.non_finite=skip"}));
  const Ended two = run("two", with({"train.non_finite=skip", "parallel.pipe=2"}), false, 2);
  EXPECT_EQ(two.progress.updates, one.progress.updates);
  EXPECT_LT(two.progress.updates, two.progress.step) << "steps were skipped";
  EXPECT_LT(distance_of("one", "two"), 1e-5);
}

TEST_F(PipelineJob, RunsOtherModelsOfBlocks) {
  for (const char* model : {"mlp64", "cnn64"}) {
    SCOPED_TRACE(model);
    model_ = model;
    const Words common = {"train.grad_accum_steps=2", "train.steps=10", "eval.every=5"};
    run(std::string(model) + "-one", common);
    for (const int stages : {2, 3}) {
      Words words = common;
      words.push_back("parallel.pipe=" + std::to_string(stages));
      const std::string folder = model + std::to_string(stages);
      run(folder, words, false, stages);
      expect_stages_near(std::string(model) + "-one", folder);
    }
  }
}

// Rotary angles pass through all stages of a llama; buffers of a resnet belong to their stage.
TEST_F(PipelineJob, RunsModelsInFloat32) {
  const Words common = {"train.steps=4", "train.grad_accum_steps=2", "optim.max_grad_norm=0"};
  const std::vector<std::pair<std::string, Words>> models = {
      {"gpt",
       {"model.kind=llama", "model.num_kv_heads=2", "model.num_heads=4", "model.hidden_size=16",
        "model.tie_word_embeddings=false"}},
      {"resnet", {}},
      {"vit",
       {"data.task=images", "data.sizes=[1, 8, 8]", "model.patch_size=4", "model.hidden_size=16",
        "model.num_layers=2", "model.num_heads=2"}}};
  for (const auto& [recipe, own] : models) {
    SCOPED_TRACE(recipe);
    model_ = recipe;
    Words words = common;
    words.insert(words.end(), own.begin(), own.end());
    run(recipe + "-one", words);
    words.push_back("parallel.pipe=3");
    run(recipe + "-cut", words, false, 3);
    EXPECT_EQ(distance_of(recipe + "-one", recipe + "-cut"), 0);
  }
}

TEST_F(PipelineJob, AddsUpOrderedSumsAsOneRankDoes) {
  const Words common = {"model.tie_word_embeddings=false", "optim.max_grad_norm=0",
                        "train.logical_ranks=4", "train.steps=4"};
  run("one", common);
  Words words = common;
  words.push_back("parallel.pipe=2");
  run("two", words, false, 2);
  run("four", words, false, 4);
  EXPECT_EQ(distance_of("one", "two"), 0);
  EXPECT_EQ(distance_of("one", "four"), 0);
}

TEST_F(PipelineJob, TrainsInBfloat16) {
  model_ = "gpt";
  const Words common = {"train.precision=bf16", "train.steps=4", "train.grad_accum_steps=2",
                        "model.tie_word_embeddings=false", "optim.max_grad_norm=0"};
  run("one", common);
  Words words = common;
  words.push_back("parallel.pipe=2");
  run("two", words, false, 2);
  EXPECT_LT(distance_of("one", "two"), 1e-3);
}

TEST_F(PipelineJob, ResumesOnOtherMeshes) {
  const Words micro_batches = {"train.grad_accum_steps=2"};
  const auto with = [&](Words more, int steps = 10) {
    more.insert(more.end(), micro_batches.begin(), micro_batches.end());
    return staged(more, steps);
  };
  run("whole", with({}));
  run("job", with({"parallel.pipe=2"}, 3), false, 4);
  run("job", with({}, 5), true, 1);
  run("job", with({"parallel.pipe=3", "parallel.schedule=gpipe"}, 7), true, 3);
  run("job", with({"parallel.tensor=2"}, 8), true, 2);
  run("job", with({"parallel.pipe=2", "parallel.schedule=interleaved_1f1b"}), true, 2);
  expect_stages_near("whole", "job");
}

TEST_F(PipelineJob, RefusesWhatDoesNotFit) {
  const auto code_of = [&](Words words, int ranks) {
    return testing::code_of([&] { run("refused", staged(std::move(words)), false, ranks); });
  };
  EXPECT_EQ(code_of({"parallel.pipe=2"}, 3), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "parallel.data=2"}, 2), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=7"}, 7), ErrorCode::InvalidInput) << "six blocks";
  EXPECT_EQ(code_of({"parallel.pipe=2", "parallel.schedule=zb_h1"}, 2), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "parallel.stages_per_rank=2"}, 2), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "parallel.split_points=[\"h.1\"]"}, 2),
            ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "sync.kind=zero3"}, 4), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "sync.kind=diloco"}, 4), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "sync.codec.kind=int8"}, 4), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "balance.kind=static"}, 4), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.pipe=2", "model.lora_rank=2"}, 2), ErrorCode::Unsupported);
  EXPECT_EQ(code_of({"parallel.pipe=2", "model.freeze=[\"*.h.0.*\"]"}, 2), ErrorCode::Unsupported);
  EXPECT_EQ(code_of({"parallel.pipe=2", "optim.layer_decay=0.9"}, 2), ErrorCode::Unsupported);
  EXPECT_EQ(code_of({"parallel.pipe=2", "parallel.tensor=3"}, 6), ErrorCode::InvalidInput)
      << "four heads";
  EXPECT_FALSE(fs::exists(at("refused") / "checkpoints"));
}

}  // namespace
}  // namespace trireme::train
