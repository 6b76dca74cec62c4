// Goal:   a recipe's hash is of what decides the result and of nothing else; its schema survives
//         the way through JSON; mistakes in its sections are found.
// Method: the tiny recipe with one setting changed at a time.

#include "trireme/train/recipe/recipe.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tests/train/tiny_job.h"
#include "trireme/base/config/schema_json.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {
namespace {

std::string hash_with(const Words& overrides) {
  return job_hash(tiny_config("mlp", overrides));
}

std::string complaint_about(const Words& overrides) {
  try {
    tiny_config("mlp", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    return error.message();
  }
  return {};
}

TEST(Recipe, HashIgnoresWhatDoesNotDecideTheResult) {
  const std::string hash = hash_with({});
  EXPECT_EQ(hash.size(), 16U);
  for (const char* free :
       {"train.epochs=7", "train.steps=3", "train.non_finite=skip", "train.non_finite_max=3",
        "data.num_workers=3", "data.prefetch_factor=5", "eval.every=3", "eval.batch_size=2",
        "eval.metric=accuracy", "eval.patience=2", "checkpoint.every=9", "checkpoint.keep=4",
        "checkpoint.keep_best=false", "sync.kind=zero1", "sync.bucket_size=1MiB"}) {
    EXPECT_EQ(hash_with({free}), hash) << free;
  }
}

TEST(Recipe, NamesOfOtherProgramsAreAnsweredWithOurs) {
  for (const auto& [theirs, ours] : std::map<std::string, std::string>{
           {"train.batch_size", "train.global_batch_size"},
           {"train.max_epochs", "train.epochs"},
           {"train.bf16", "train.precision"},
           {"train.grad_accum", "train.grad_accum_steps"},
           {"train.learning_rate", "optim.lr"},
           {"optim.beta2", "optim.betas"},
           {"optim.grad_clip", "optim.max_grad_norm"},
           {"checkpoint.save_steps", "checkpoint.every"},
           {"train.gradient_checkpointing", "model.activation_checkpointing"}}) {
    EXPECT_THAT(complaint_about({theirs + "=1"}),
                ::testing::HasSubstr(theirs + ": there is no such setting; use " + ours))
        << theirs;
  }
  EXPECT_THAT(complaint_about({"train.lr=1"}), ::testing::HasSubstr("did you mean optim.lr?"));
  EXPECT_THAT(complaint_about({"optim.betas=[0.9]"}), ::testing::HasSubstr("[0.9, 0.999]"));
}

TEST(Recipe, WhatACheckpointDependsOnCannotChange) {
  for (const char* key : {"train.steps", "train.log_every", "optim.lr", "train.global_batch_size",
                          "optim.second.lr", "schedule.kind", "schedule.warmup_steps"}) {
    EXPECT_TRUE(can_change(key)) << key;
  }
  for (const char* key :
       {"train.seed", "optim.kind", "optim.second.kind", "optim.momentum", "model.kind",
        "model.hidden_sizes", "data.kind", "data.seq_len", "learning"}) {
    EXPECT_FALSE(can_change(key)) << key;
  }
}

TEST(Recipe, HashSeesEverythingElse) {
  std::set<std::string> hashes{hash_with({})};
  const Words others{"train.global_batch_size=11",
                     "train.seed=2",
                     "train.logical_ranks=2",
                     "train.grad_accum_steps=2",
                     "train.num_threads=2",
                     "train.precision=bf16",
                     "model.hidden_sizes=[7]",
                     "model.dropout=0.1",
                     "data.count=38",
                     "data.seed=1",
                     "data.shuffle=false",
                     "optim.lr=0.02",
                     "optim.max_grad_norm=1",
                     "optim.weight_decay=0.2",
                     "schedule.warmup_steps=3",
                     "loss.kind=cross_entropy"};
  for (const std::string& other : others) {
    EXPECT_TRUE(hashes.insert(hash_with({other})).second) << other;
  }
}

TEST(Recipe, SchemaReadsBackFromJson) {
  const config::Schema schema = recipe_schema(built_in_kinds());
  const std::string json = config::schema_json(schema);
  const config::Schema back = config::schema_from_json(json);
  const std::string described = config::schema_json(back);
  EXPECT_EQ(config::schema_json(config::schema_from_json(described)), described);
  // Settings that kinds share may come in another order.
  const auto read = [&](const config::Schema& with) {
    std::map<std::string, std::string> settings;
    for (const auto& setting :
         config::read_config(with, {.files = {{"tiny.toml", tiny_recipe("gpt")}}}).settings()) {
      settings[setting.key()] = to_plain(setting.value);
    }
    return settings;
  };
  EXPECT_EQ(read(back), read(schema));
  EXPECT_EQ(read(back).at("model.hidden_size"), "8");
}

TEST(Recipe, ResolvedTextReadsBackAsItself) {
  for (const char* model : {"mlp", "cnn", "gpt"}) {
    const config::Config config = tiny_config(model, {"train.logical_ranks=3"});
    const config::Config again =
        config::read_config(recipe_schema(tiny_kinds()), {.files = {{"again", config.to_toml()}}});
    EXPECT_EQ(again.to_toml(), config.to_toml());
    EXPECT_EQ(job_hash(again), job_hash(config));
  }
}

TEST(Recipe, EveryMistakeIsNamed) {
  const std::string text =
      complaint_about({"train.global_batch_size=0", "train.precision=float8", "eval.metric=beauty",
                       "train.bach=3", "sync.kind=luck"});
  for (const char* name :
       {"train.global_batch_size", "precision", "beauty", "train.bach", "luck"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << " in: " << text;
  }
}

TEST(TrainConfig, HoldsTheDefaultsThatItsHelpSays) {
  const config::Config config = tiny_config("mlp", {});
  EXPECT_EQ(config.get<TrainConfig>("train").batch, 10);
  EXPECT_EQ(config.get<TrainConfig>("train").precision, Precision::Float32);
  EXPECT_EQ(config.get<TrainConfig>("train").non_finite, NonFinite::Stop);
  EXPECT_EQ(config.get<EvalConfig>("eval").metric, "loss");
  EXPECT_TRUE(config.get<CheckpointConfig>("checkpoint").is_best_kept);
  EXPECT_TRUE(is_larger_better("accuracy"));
  EXPECT_TRUE(is_larger_better("f1"));
  EXPECT_FALSE(is_larger_better("loss"));
  EXPECT_FALSE(is_larger_better("perplexity"));
}

TEST(Recipe, LossFitsTheData) {
  const config::Config config = tiny_config("mlp", {});
  const at::Tensor logits = at::zeros({3, 5});
  const at::Tensor target = at::zeros({3}, at::kLong);
  data::Form classes{.classes = 5};
  EXPECT_NEAR(make_loss(config, {}, classes)->sum(logits, target).item<double>(), 3 * std::log(5.0),
              1e-5);
  const data::Form numbers{.target_type = at::kFloat};
  EXPECT_EQ(make_loss(config, {}, numbers)->sum(at::ones({4}), at::zeros({4})).item<double>(), 4);
  const config::Config named = tiny_config("mlp", {"loss.kind=mse"});
  EXPECT_EQ(make_loss(named, {}, classes)->sum(at::ones({4}), at::zeros({4})).item<double>(), 4);
}

}  // namespace
}  // namespace trireme::train
