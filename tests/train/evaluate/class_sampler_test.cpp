// Goal:   a trained autoencoder generates samples that look like their class; jobs can train on
//         generated images together with real ones, on any number of ranks.
// Method: codes drawn from known distributions; a small autoencoder on synthetic images, whose
//         samples are nearest to the mean of their own class; files written, read and trained on.

#include "trireme/train/evaluate/class_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/base/error.h"
#include "trireme/base/random.h"
#include "trireme/data/idx/idx_set.h"
#include "trireme/data/source/extra.h"
#include "trireme/train/evaluate/answers.h"
#include "trireme/train/evaluate/drawing.h"

namespace trireme::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NormalDistribution, IsThatOfItsRows) {
  torch::manual_seed(2);
  const at::Tensor root = torch::tensor({{2.0, 0.0, 0.0}, {1.0, 0.5, 0.0}, {-1.0, 0.3, 0.1}});
  const at::Tensor rows = torch::randn({2000, 3}).mm(root.t()) + torch::tensor({5.0, -1.0, 0.0});
  const Normal normal(rows);
  std::vector<at::Tensor> drawn;
  for (std::uint64_t i = 0; i < 4000; ++i) drawn.push_back(normal.draw(7, i));
  const at::Tensor all = torch::stack(drawn);
  EXPECT_TRUE(all.mean(0).allclose(rows.mean(0), 0, 0.15));
  EXPECT_TRUE(all.t().cov().allclose(rows.t().cov(), 0.15, 0.1));
  EXPECT_TRUE(normal.draw(7, 3).equal(normal.draw(7, 3)));
  EXPECT_FALSE(normal.draw(7, 3).equal(normal.draw(8, 3)));
  // One row has no width, and two none across the line between them.
  EXPECT_TRUE(Normal(torch::ones({1, 3})).draw(1, 1).equal(torch::ones({3})));
  const at::Tensor line = Normal(torch::tensor({{0.0, 0.0}, {1.0, 2.0}})).draw(1, 1);
  EXPECT_NEAR(line[1].item<float>(), 2 * line[0].item<float>(), 1e-5);
}

TEST(PixelsOfSamples, AreOnTheirScaleAgain) {
  const at::Tensor x = torch::tensor({-1.0F, 0.0F, 1.0F, 3.0F}).view({1, 1, 2, 2});
  const auto flat = [](const at::Tensor& t) { return t.flatten(); };
  EXPECT_TRUE(flat(to_pixels(x, {.mean = {0.5F}, .deviation = {0.25F}}))
                  .equal(torch::tensor({0.25F, 0.5F, 0.75F, 1.0F})));
  EXPECT_TRUE(flat(to_pixels(x, {})).equal(torch::tensor({0.0F, 0.0F, 1.0F, 1.0F})));
  EXPECT_TRUE(flat(to_pixels(x, {.is_standardized = true}))
                  .equal(torch::tensor({0.0F, 0.25F, 0.5F, 1.0F})));
}

// Pictures in files: a bright half each, left or right or top by class, and some noise.
void write_halves(const fs::path& folder) {
  for (const char* part : {"train", "t10k"}) {
    data::idx::Pictures all{.sizes = {60, 8, 8, 1}, .pixels = {}, .labels = {}};
    Random random(*part == 't' ? 3 : 4);
    for (std::int64_t i = 0; i < 60; ++i) {
      all.labels.push_back(static_cast<std::uint8_t>(i % 3));
      for (std::int64_t pixel = 0; pixel < 64; ++pixel) {
        const std::int64_t x = pixel % 8, y = pixel / 8;
        const bool is_bright = i % 3 == 0 ? x < 4 : i % 3 == 1 ? x >= 4 : y < 4;
        all.pixels.push_back(static_cast<std::uint8_t>((is_bright ? 180 : 20) + random.below(40)));
      }
    }
    data::idx::write_pictures(folder / part, all);
    for (const char* name : {"images-idx3-ubyte", "labels-idx1-ubyte"}) {
      fs::rename(folder / part / (std::string("train-") + name),
                 folder / (std::string(part) + "-" + name));
    }
  }
}

class DrawnSamples : public TrainerTest {
 protected:
  void SetUp() override {
    fs::create_directories(at("data"));
    write_halves(at("data"));
  }

  config::Config config_of(const std::string& model, const Words& more = {}) const {
    Words words{"data.folder=" + at("data").string(), "data.set=other"};
    words.insert(words.end(), more.begin(), more.end());
    return config::read_config(
        recipe_schema(tiny_kinds()),
        {.files =
             {{"halves.toml",
               "[model]\n" + model +
                   "\n[data]\nkind = \"idx\"\n[train]\nglobal_batch_size = 20\nnum_threads = 1\n"
                   "steps = 150\n[optim]\nlr = 0.01\n[eval]\nevery = 1000\n"
                   "[checkpoint]\nevery = 1000\n"}},
         .overrides = words});
  }

  // Trains it into a folder.
  void train(const std::string& folder, const config::Config& config) {
    Job job = open_job(config, tiny_kinds());
    Reporter reporter({});
    Trainer(job, {.output = at(folder), .reporter = &reporter}).run();
    write_file_atomically(at(folder) / "config.toml", config.to_toml());
  }

  std::string generate(const std::string& folder, const Words& more) {
    Words words{"generate", "--output", at(folder).string()};
    words.insert(words.end(), more.begin(), more.end());
    ::testing::internal::CaptureStdout();
    std::string wrong;
    try {
      answer_generate(WorkerWords(words), tiny_kinds());
    } catch (const Error& error) {
      wrong = error.message();
    }
    return ::testing::internal::GetCapturedStdout() + wrong;
  }

  static constexpr const char* kCoder =
      "kind = \"autoencoder\"\nhidden_sizes = [32]\nlatent_size = 4";
};

// The class whose picture a sample is nearest to.
std::int64_t nearest_class(const at::Tensor& picture) {
  at::Tensor wanted = torch::full({3, 8, 8}, 40.0F / 255);
  wanted[0].slice(1, 0, 4).fill_(200.0F / 255);
  wanted[1].slice(1, 4, 8).fill_(200.0F / 255);
  wanted[2].slice(0, 0, 4).fill_(200.0F / 255);
  return (wanted - picture.view({1, 8, 8})).square().sum({1, 2}).argmin().item<std::int64_t>();
}

TEST_F(DrawnSamples, OfAnAutoencoderAreOfTheirClass) {
  train("coder", config_of(kCoder, {"data.target=input", "data.mean=[0.5]", "data.std=[0.5]"}));
  const std::string said =
      generate("coder", {"--count", "30", "--to", at("drawn").string(), "--seed", "5"});
  EXPECT_THAT(said, HasSubstr("30 of each of 3 classes"));
  const auto drawn = data::idx::open_pictures(at("drawn"), 3);
  ASSERT_EQ(drawn->count(), 90);
  EXPECT_THAT(drawn->form().input_sizes, ElementsAre(1, 8, 8));
  int right = 0;
  std::vector<at::Tensor> pictures;
  for (std::int64_t i = 0; i < 90; ++i) {
    std::int64_t label = -1;
    pictures.push_back(torch::empty({8, 8}));
    drawn->read(i, {}, pictures.back().data_ptr(), &label);
    EXPECT_EQ(label, i / 30);
    right += nearest_class(pictures.back()) == label ? 1 : 0;
  }
  EXPECT_GE(right, 80) << "of 90";
  EXPECT_FALSE(pictures[0].equal(pictures[1])) << "each is another";
  EXPECT_THAT(generate("coder", {"--only", "2", "--to", at("few").string()}),
              HasSubstr("8 of each of 1 classes"));
  EXPECT_THAT(generate("coder", {"--only", "3", "--to", at("few").string()}),
              HasSubstr("--only 3: no such class"));
  EXPECT_THAT(generate("coder", {"--to", at("few").string(), "--set", "data.standardize=true"}),
              HasSubstr("images whose scale is known"));
}

TEST_F(DrawnSamples, AreTrainedOnBesideTheOthers) {
  train("coder", config_of(kCoder, {"data.target=input", "train.steps=3"}));
  generate("coder", {"--count", "50", "--only", "1", "--to", at("drawn").string()});
  const Words with{"data.extra=" + at("drawn").string(), "data.horizontal_flip=true",
                   "train.logical_ranks=2", "data.balance=over"};
  const char* const network = "kind = \"cnn\"\nchannels = [2]\nhidden_size = 4";
  const config::Config config = config_of(network, with);
  const data::Sets sets = tiny_kinds().data.open(config);
  EXPECT_EQ(sets.train->count(), 3 * 70) << "20 and 50 of one class, the same number of each";
  EXPECT_EQ(sets.test->count(), 60) << "never of what is evaluated on";
  const Trained one = train_threads(config, 1, 4);
  expect_same_bits(one, train_threads(config, 2, 4), "two ranks");
  EXPECT_GT(distance(one.weights,
                     train_threads(config_of(network, {"train.logical_ranks=2"}), 1, 4).weights),
            0);
  EXPECT_THROW(tiny_kinds().data.open(config_of(kCoder, {"data.extra=nowhere"})), Error);
  // Of another size.
  data::idx::write_pictures(
      at("small"), {.sizes = {1, 4, 4, 1}, .pixels = std::vector<std::uint8_t>(16), .labels = {0}});
  EXPECT_THROW(tiny_kinds().data.open(config_of(kCoder, {"data.extra=" + at("small").string()})),
               Error);
}

}  // namespace
}  // namespace trireme::train
