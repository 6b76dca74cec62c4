// Goal:   with fixed virtual ranks, every model ends with the same bits on three ranks as on one,
//         for every synchronization strategy.
// Method: a few steps of tiny models in float32, ranks as threads.

#include <sstream>

#include "tests/train/tiny_job.h"

namespace trireme::train {
namespace {

constexpr const char* kTokens = "data.task=tokens data.sizes=[6]";
constexpr const char* kImages = "data.task=images data.sizes=[1,8,8]";

struct Tiny {
  const char* model;
  const char* words;
  const char* data;
};

// What was given as one text, word by word.
void add_words(Words& words, const std::string& text) {
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
}

TEST(ModelsOnRanks, EndWithTheBitsOfOne) {
  const Tiny all[] = {
      {"llama", "model.hidden_size=8 model.num_layers=2 model.num_heads=2 model.num_kv_heads=1",
       kTokens},
      {"lstm", "model.hidden_size=6 model.num_layers=2", kTokens},
      {"vit", "model.patch_size=4 model.hidden_size=8 model.num_layers=2 model.num_heads=2",
       kImages},
      {"resnet", "model.depth=18 model.base_channels=4", kImages},
      {"audio", "model.channels=4 model.num_layers=2", "data.task=images data.sizes=[1,8,12]"},
      {"autoencoder", "model.hidden_sizes=[8] model.latent_size=3",
       "data.task=images data.sizes=[1,8,8] data.target=input"},
      {"linear", "", "data.task=regression data.sizes=[6]"},
      {"logistic", "", "data.task=classification data.sizes=[6]"}};
  for (const Tiny& tiny : all) {
    Words words{std::string("model.kind=") + tiny.model,
                "data.kind=synthetic",
                "data.count=37",
                "data.classes=5",
                "train.global_batch_size=10",
                "train.num_threads=1",
                "train.logical_ranks=4",
                "optim.kind=adamw",
                "optim.lr=0.01",
                "sync.bucket_size=1KiB"};
    add_words(words, tiny.words);
    add_words(words, tiny.data);
    const auto config_with = [&](const std::string& how) {
      Words with = words;
      with.push_back("sync.kind=" + how);
      return config::read_config(recipe_schema(tiny_kinds()), {.overrides = with});
    };
    const Trained one = train_threads(config_with("auto"), 1, 5);
    for (const char* how : {"all_reduce", "shared", "zero3"}) {
      expect_same_bits(train_threads(config_with(how), 3, 5), one,
                       std::string(tiny.model) + ", " + how);
    }
  }
}

}  // namespace
}  // namespace trireme::train
