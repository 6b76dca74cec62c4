// Goal:   a recipe trains on top of earlier weights: a new head, frozen layers, rates by depth, one
//         block more from time to time, changes of low rank.
// Method: short jobs of a small gpt, before and after; what must stay is compared bit by bit.

#include "trireme/train/transfer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "tests/train/tiny_job.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/published.h"
#include "trireme/model/layer/lora.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/rule/gradual.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

using testing::code_of;

// The names of what two steps changed.
std::set<std::string> changed_by(const Words& words, int steps = 2) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("gpt", words, kinds), kinds);
  const auto before = weights_of(*job.model);
  for (std::int64_t step = 0; step < steps; ++step) job.step->run(step);
  std::set<std::string> changed;
  for (const auto& [name, tensor] : weights_of(*job.model)) {
    if (!tensor.equal(before.at(name))) changed.insert(name);
  }
  return changed;
}

TEST(TransferOfWeights, FreezesByName) {
  const auto all = changed_by({});
  const auto some = changed_by({"model.freeze=[\"transformer.h.0.*\", \"*.ln_f.*\"]"});
  EXPECT_LT(some.size(), all.size());
  for (const std::string& name : all) {
    const bool is_frozen =
        name.starts_with("transformer.h.0.") || name.find(".ln_f.") != std::string::npos;
    EXPECT_EQ(some.contains(name), !is_frozen) << name;
  }
  const auto code = [](const char* word) { return code_of([&] { changed_by({word}); }); };
  EXPECT_EQ(code("model.freeze=[\"no.such\"]"), ErrorCode::InvalidInput);
  EXPECT_EQ(code("model.freeze=[\"*\"]"), ErrorCode::InvalidInput);
  EXPECT_EQ(code("model.load_fresh=[\"no.such\"]"), ErrorCode::InvalidInput);
}

TEST(TransferOfWeights, TrainsOnlyTheChangeOfLowRank) {
  const auto changed = changed_by({"model.lora_rank=2", "model.lora_target_modules=[\"*.c_attn\"]",
                                   "model.lora_modules_to_save=[\"*.ln_f.*\"]"});
  EXPECT_FALSE(changed.empty());
  for (const std::string& name : changed) {
    EXPECT_TRUE(model::is_lora(name) || name.find(".ln_f.") != std::string::npos) << name;
  }
  EXPECT_EQ(code_of([] { changed_by({"model.lora_rank=2", "model.lora_target_modules=[\"x\"]"}); }),
            ErrorCode::InvalidInput);
}

TEST(TransferOfWeights, ReadsAllButWhatBeginsAnew) {
  const TemporaryFolder folder("transfer");
  const auto file = (folder.path() / "w.safetensors").string();
  const Kinds kinds = tiny_kinds();
  Job first = open_job(tiny_config("gpt", {"train.seed=7"}, kinds), kinds);
  checkpoint::write_safetensors(file, checkpoint::published_tensors(*first.model));
  const Job second = open_job(
      tiny_config(
          "gpt",
          {"model.load=" + file, "model.load_fresh=[\"transformer.h.1.*\"]", "model.lora_rank=1"},
          kinds),
      kinds);
  const auto theirs = weights_of(*first.model);
  for (const auto& [name, tensor] : weights_of(*second.model)) {
    if (model::is_lora(name) || tensor.dim() < 2) continue;
    EXPECT_EQ(tensor.equal(theirs.at(name)), !name.starts_with("transformer.h.1.")) << name;
  }
}

TEST(TransferOfWeights, UnfreezesOneBlockAfterTheOther) {
  const Words words{"optim.unfreeze_every=2", "model.tie_word_embeddings=false"};
  for (const std::string& name : changed_by(words, 2)) {
    EXPECT_FALSE(name.starts_with("transformer.h.")) << name;
  }
  const auto later = changed_by(words, 3);
  EXPECT_TRUE(later.contains("transformer.h.1.mlp.c_fc.weight"));
  EXPECT_FALSE(later.contains("transformer.h.0.mlp.c_fc.weight"));
}

TEST(TransferOfWeights, LearnsMoreSlowlyNearTheInput) {
  const Kinds kinds = tiny_kinds();
  const Words words{"optim.kind=sgd", "optim.momentum=0", "model.tie_word_embeddings=false"};
  Words slow = words;
  slow.emplace_back("optim.layer_decay=0.5");
  Weights moved[2];
  for (int i = 0; i < 2; ++i) {
    Job job = open_job(tiny_config("gpt", i == 0 ? words : slow, kinds), kinds);
    const auto before = weights_of(*job.model);
    job.step->run(0);
    for (const auto& [name, tensor] : weights_of(*job.model))
      moved[i][name] = tensor - before.at(name);
  }
  const Levels levels(*open_job(tiny_config("gpt", words, kinds), kinds).model, "x");
  ASSERT_EQ(levels.count(), 4);  // tokens, two layers, head
  for (const auto& [name, change] : moved[0]) {
    const double factor = std::pow(0.5, 3 - levels.of(name));
    EXPECT_TRUE((change * factor).allclose(moved[1].at(name), 1e-2, 1e-6)) << name;
  }
}

TEST(TransferOfWeights, EndsAlikeOnAnyRanksAndRecomputed) {
  const Words wanted[] = {
      {"model.lora_rank=2", "model.lora_modules_to_save=[\"*.ln_f.*\"]"},
      {"model.freeze=[\"transformer.h.0.*\", \"transformer.wte.*\"]"},
      {"optim.unfreeze_every=2", "optim.layer_decay=0.5", "model.tie_word_embeddings=false"},
  };
  for (const Words& words : wanted) {
    const auto with = [&](const char* word) {
      Words all = words;
      all.insert(all.end(), {"train.logical_ranks=2", word});
      return tiny_config("gpt", all);
    };
    const Trained one = train_threads(with("sync.kind=auto"), 1, 5);
    for (const char* kind : {"sync.kind=all_reduce", "sync.kind=zero1", "sync.kind=zero3"}) {
      expect_same_bits(one, train_threads(with(kind), 2, 5), words.front() + " " + kind);
    }
    expect_same_bits(one, train_threads(with("model.activation_checkpointing=true"), 1, 5),
                     words.front());
  }
}

TEST(GradualRule, BeginsAsPyTorchsDoes) {
  const optim::Gradual rule(std::make_shared<optim::Adam>(optim::AdamwConfig{}));
  optim::Slice slice{.value = at::ones({3}),
                     .gradient = at::zeros({3}),
                     .state = {},
                     .learning_rate = 0.01,
                     .weight_decay = 0.1,
                     .first_step = 4};
  for (std::size_t i = 0; i < rule.state_names().size(); ++i) slice.state.push_back(at::zeros({3}));
  at::Tensor theirs = torch::ones({3}, at::requires_grad());
  torch::optim::AdamW adam({theirs}, torch::optim::AdamWOptions(0.01).weight_decay(0.1));
  for (std::int64_t step = 1; step <= 7; ++step) {
    const at::Tensor gradient = torch::tensor({0.3F, -1.0F, 2.0F}) * static_cast<double>(step);
    slice.gradient.copy_(gradient);
    rule.update({&slice, 1}, step);
    if (step < 4) continue;
    theirs.mutable_grad() = gradient;
    adam.step();
  }
  EXPECT_TRUE(slice.value.allclose(theirs, 1e-6, 1e-7)) << slice.value << theirs;
}

TEST(GradualRule, CountsFromTheFirstStep) {
  const optim::Gradual rule(std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0}));
  optim::Slice slice{.value = at::ones({2}),
                     .gradient = at::ones({2}),
                     .state = {},
                     .learning_rate = 0.25,
                     .first_step = 3};
  for (std::size_t i = 0; i < rule.state_names().size(); ++i) slice.state.push_back(at::zeros({2}));
  rule.update({&slice, 1}, 2);
  EXPECT_EQ(slice.value[0].item<float>(), 1);
  rule.update({&slice, 1}, 3);
  EXPECT_EQ(slice.value[0].item<float>(), 0.75);
}

}  // namespace
}  // namespace trireme::train
