// Goal:   what is not finite is stopped, skipped or rolled back, and never saved.
// Method: whole jobs in this process, on data of which one sample is not a number, with a weight
//         that is none, with steps that are too long, and with a model whose slope is none.

#include "trireme/train/non_finite_policy.h"

#include "tests/train/trainer_fixture.h"
#include "trireme/model/wrap.h"

namespace trireme::train {
namespace {

class NonFiniteTest : public TrainerTest {
 protected:
  // The steps, of 20, that the poisoned sample is in; not the first, so that something was saved.
  static std::vector<int> poisoned_steps() {
    const Kinds kinds = poisoned_kinds();
    Job job =
        open_job(tiny_config("mlp", {"data.kind=poisoned", "train.non_finite=skip"}, kinds), kinds);
    std::vector<int> steps;
    for (int step = 1; step <= 20; ++step) {
      if (!job.step->run(0).is_finite) steps.push_back(step);
    }
    EXPECT_GT(steps.front(), 1);
    return steps;
  }
  static int first_poisoned_step() { return poisoned_steps().front(); }
};

TEST_F(NonFiniteTest, StopsWhereTheLossIsNotFinite) {
  for (const int ranks : {1, 2}) {
    const std::string folder = "stop" + std::to_string(ranks);
    try {
      run(folder, {"data.kind=poisoned", "checkpoint.every=1"}, false, ranks);
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Diverged) << error.what();
      EXPECT_NE(error.message().find("not finite"), std::string::npos) << error.message();
    }
    const auto left = newest(folder);
    EXPECT_EQ(left.step(), first_poisoned_step() - 1);
    for (const std::string& name : left.names()) {
      EXPECT_TRUE(left.read(name).isfinite().all().item<bool>()) << name;
    }
  }
}

TEST_F(NonFiniteTest, NamesTheFirstLayerThatIsNotFinite) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  job.model->named_parameters()["layers.1.weight"].detach()[0][0] =
      std::numeric_limits<float>::infinity();
  Reporter silent({});
  Trainer trainer(job, {.output = at("named"), .reporter = &silent});
  try {
    trainer.run();
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Diverged);
    EXPECT_NE(error.message().find("layers.1.weight"), std::string::npos) << error.message();
  }
}

// Weights so large that products overflow, all of them finite.
TEST_F(NonFiniteTest, NamesTheFirstBlockThatOverflows) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  for (auto& parameter : job.model->parameters()) parameter.detach().fill_(3e38f);
  Reporter silent({});
  Trainer trainer(job, {.output = at("overflown"), .reporter = &silent});
  try {
    trainer.run();
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("first in layers.0"), std::string::npos) << error.message();
  }
}

struct EdgeConfig {
  static void describe(config::Fields<EdgeConfig>&) {}
};

// The root of zero has a value but no slope: finite losses, gradients that are none.
Kinds edge_kinds() {
  Kinds kinds = tiny_kinds();
  kinds.models.add<EdgeConfig>("edge", "", [](const EdgeConfig&, const model::Facts& facts) {
    torch::nn::Linear layer(facts.form.input_count(), facts.form.classes);
    const torch::NoGradGuard no_grad;
    for (auto& parameter : layer->parameters()) parameter.zero_();
    return model::wrap(layer.ptr(), [](auto& net, const at::Tensor& x, const model::Context&) {
      return net.forward(x).abs().sqrt();
    });
  });
  return kinds;
}

config::Config edge_config(const Kinds& kinds, const Words& overrides) {
  std::string recipe = tiny_recipe("mlp");
  recipe.replace(recipe.find("\"mlp\""), 5, "\"edge\"");
  recipe.erase(recipe.find("hidden_sizes"), std::string("hidden_sizes = [7, 5]").size());
  return config::read_config(recipe_schema(kinds),
                             {.files = {{"edge.toml", recipe}}, .overrides = overrides});
}

// No scale makes them finite: skipping goes on until it is plain that it leads nowhere.
TEST_F(NonFiniteTest, Float16ThatNeverBecomesFiniteEnds) {
  const Kinds kinds = edge_kinds();
  is_reported_ = true;
  for (const char* answer : {"stop", "skip"}) {
    Job job = open_job(edge_config(kinds, {"train.precision=fp16", "train.non_finite_max=4",
                                           std::string("train.non_finite=") + answer}),
                       kinds);
    Reporter reporter(reporting(answer));
    Trainer trainer(job, {.output = at(answer), .reporter = &reporter});
    try {
      trainer.run();
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Diverged) << error.what();
    }
    EXPECT_EQ(trainer.progress().step, 5);
    EXPECT_EQ(trainer.progress().updates, 0);
    const std::string events = said(answer, "events.jsonl");
    EXPECT_NE(events.find("{\"step\":4,"), std::string::npos) << events;
    EXPECT_NE(events.find("overflowed float16\",\"loss_scale\":32768"), std::string::npos)
        << events;
  }
}

TEST_F(NonFiniteTest, Float16AtItsLeastScaleEnds) {
  const Kinds kinds = edge_kinds();
  Job job = open_job(
      edge_config(kinds, {"train.precision=fp16", "train.non_finite_max=1000", "train.steps=99"}),
      kinds);
  Reporter silent({});
  Trainer trainer(job, {.output = at("least"), .reporter = &silent});
  EXPECT_THROW(trainer.run(), Error);
  EXPECT_TRUE(job.step->loss_scale().is_least());
  EXPECT_EQ(trainer.progress().step, 30) << "from 65536 by halves to 1 / 16384";
}

TEST_F(NonFiniteTest, WeightsThatAreNotFiniteAreNeverSaved) {
  const Kinds kinds = edge_kinds();
  const config::Config config = edge_config(kinds, {"checkpoint.every=1"});
  for (const int ranks : {1, 2}) {
    std::vector<comm::Group> groups{comm::Group::solo()};
    if (ranks > 1) groups = comm::connect_threads(ranks);
    const std::string folder = "edge" + std::to_string(ranks);
    testing::run_rank_threads(ranks, [&](int rank) {
      Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
      Reporter silent({});
      Trainer trainer(job, {.output = at(folder), .reporter = &silent});
      try {
        trainer.run();
        ADD_FAILURE() << "it went on";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Diverged) << error.what();
        EXPECT_NE(error.message().find("weight"), std::string::npos) << error.message();
      }
      groups[static_cast<std::size_t>(rank)].barrier().wait();
    });
    const auto found = checkpoint::Checkpoint::newest_whole(at(folder) / "checkpoints");
    EXPECT_FALSE(found.checkpoint.has_value());
  }
}

// 20 steps of 10 out of 37 samples are 5 epochs of 4 steps: sample 5 comes 5 times.
TEST_F(NonFiniteTest, SkipsStepsThatAreNotFinite) {
  for (const int ranks : {1, 2, 3}) {
    const Ended ended = run("skip" + std::to_string(ranks),
                            {"data.kind=poisoned", "train.non_finite=skip"}, false, ranks);
    EXPECT_EQ(ended.progress.step, 20);
    EXPECT_EQ(ended.progress.updates, 15);
    for (const auto& [name, value] : ended.weights) {
      EXPECT_TRUE(value.isfinite().all().item<bool>()) << name;
    }
  }
}

TEST_F(NonFiniteTest, RollsBackToTheLastCheckpoint) {
  const Words words{"data.kind=poisoned", "train.non_finite=rollback", "checkpoint.every=2"};
  const std::vector<int> poisoned = poisoned_steps();
  std::int64_t updates = 0;
  std::int64_t saved = 0;
  for (int step = 1; step <= 20; ++step) {
    const bool is_poisoned = std::ranges::find(poisoned, step) != poisoned.end();
    // Before the first checkpoint there is nothing to go back to.
    updates = !is_poisoned ? updates + 1 : step > 2 ? saved : updates;
    if (step % 2 == 0) saved = updates;
  }
  ASSERT_LT(updates, 15) << "the same number as by skipping";
  is_reported_ = true;
  const Ended one = run("back1", words);
  EXPECT_EQ(one.progress.step, 20);
  EXPECT_EQ(one.progress.updates, updates);
  const std::string events = said("back1", "events.jsonl");
  for (const int step : poisoned) {
    const std::size_t why = events.find("\"why\":\"step " + std::to_string(step) + ":");
    ASSERT_NE(why, std::string::npos) << step << events;
    const std::size_t begin = events.rfind('{', why);
    const std::string line = events.substr(begin, why - begin);
    EXPECT_TRUE(line.starts_with("{\"step\":" + std::to_string(step) + ",")) << line;
    EXPECT_EQ(line.find("rolled back") != std::string::npos, step > 2) << line;
  }
  for (const auto& [name, value] : one.weights) {
    EXPECT_TRUE(value.isfinite().all().item<bool>()) << name;
  }
  const Ended two = run("back2", words, false, 2);
  EXPECT_EQ(two.progress.updates, one.progress.updates);
}

TEST_F(NonFiniteTest, GivesUpAfterTooManyInARow) {
  Words words = diverging("optim.lr=1000");
  words.insert(words.end(), {"train.non_finite=skip", "train.non_finite_max=3"});
  try {
    run("many", words);
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("(it is 1000.0) or optim.max_grad_norm=1.0 (clipping is off)"),
              std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace trireme::train
