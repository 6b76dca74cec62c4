// Goal:   two networks learn against each other in one step as they would with an optimizer each,
//         on any number of ranks; a trained one makes pictures of a class.
// Method: a loop written out with two of torch's Adams and a backward pass for each network; jobs
//         on threads; a job's folder and the picture that is drawn from it.

#include "trireme/model/kind/gan.h"

#include <gtest/gtest.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/base/build_info.h"
#include "trireme/base/error.h"
#include "trireme/data/png/png.h"
#include "trireme/train/evaluate/answers.h"
#include "trireme/train/evaluate/drawing.h"

namespace trireme::train {
namespace {

config::Config gan_config(const Words& more = {}) {
  const std::string text =
      "[model]\nkind = \"gan\"\nlatent_size = 3\nbase_channels = 2\n"
      "[data]\nkind = \"synthetic\"\ncount = 37\ntest_count = 11\nclasses = 3\n"
      "task = \"images\"\nsizes = [1, 8, 12]\n"
      "[train]\nglobal_batch_size = 10\nnum_threads = 1\nsteps = 4\n"
      "[optim]\nkind = \"adam\"\nlr = 0.01\nbetas = [0.5, 0.999]\n"
      "lr_factors = [\"discriminator.*=0.5\"]\n"
      "[sync]\nbucket_size = \"1 KiB\"\n[checkpoint]\nevery = 1000\n[eval]\nevery = 1000\n";
  return config::read_config(recipe_schema(tiny_kinds()),
                             {.files = {{"gan.toml", text}}, .overrides = more});
}

// Of one network.
std::vector<at::Tensor> parameters_under(const torch::nn::Module& model, const char* prefix) {
  std::vector<at::Tensor> all;
  for (const auto& item : model.named_parameters()) {
    if (item.key().starts_with(prefix)) all.push_back(item.value());
  }
  return all;
}

void set_gradients(const std::vector<at::Tensor>& parameters, const at::Tensor& loss) {
  const auto slopes = torch::autograd::grad({loss}, parameters, {}, /*retain_graph=*/true);
  for (std::size_t i = 0; i < slopes.size(); ++i) parameters[i].mutable_grad() = slopes[i];
}

using MakeOptimizer =
    std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<at::Tensor>)>;

// A loop with an optimizer of torch's for each network against a job.
void expect_as_with_two(const config::Config& config, const MakeOptimizer& make_first,
                        const MakeOptimizer& make_second) {
  constexpr int kGanSteps = 5;
  const Trained seen = train_threads(config, 1, kGanSteps);
  Job job = open_job(config, tiny_kinds());
  auto theirs = parameters_under(*job.model, "generator.");
  auto others = parameters_under(*job.model, "discriminator.");
  ASSERT_EQ(theirs.size() + others.size(), job.model->parameters().size());
  const auto makes = make_first(theirs), tells = make_second(others);
  for (int step = 0; step < kGanSteps; ++step) {
    const data::StepBatches& work = job.loader().next();
    const data::Batch& batch = work.batches.at(0);
    std::vector<at::Tensor> losses;
    const model::Context context{.is_training = true,
                                 .seed = job.train().seed,
                                 .step = step,
                                 .places = batch.places,
                                 .losses = &losses};
    const at::Tensor logits = job.model->forward(batch.input, context);
    const at::Tensor real = at::binary_cross_entropy_with_logits(
        logits.gather(1, batch.target.unsqueeze(1)), at::ones({batch.count(), 1}), {}, {},
        at::Reduction::Sum);
    const double share = 1.0 / static_cast<double>(batch.count());
    ASSERT_EQ(losses.size(), 2U);
    set_gradients(others, (real + losses[0]) * share);
    set_gradients(theirs, losses[1] * share);
    EXPECT_NEAR(((real + losses[0] + losses[1]) * share).item<double>(),
                seen.losses[static_cast<std::size_t>(step)], 1e-4);
    makes->step();
    tells->step();
  }
  EXPECT_LT(distance(weights_of(*job.model), seen.weights), 1e-4);
}

MakeOptimizer adam_at(double rate) {
  return [rate](std::vector<at::Tensor> all) {
    return std::make_unique<torch::optim::Adam>(
        std::move(all), torch::optim::AdamOptions(rate).betas({0.5, 0.999}));
  };
}

TEST(TwoNetworks, LearnAsWithAnOptimizerEach) {
  expect_as_with_two(gan_config(), adam_at(0.01), adam_at(0.005));
}

Words second_words() {
  return {"optim.lr_factors=[]", "optim.second.kind=sgd",
          "optim.second.names=[\"discriminator.*\"]", "optim.second.lr=0.03",
          "optim.second.momentum=0.7"};
}

TEST(TwoNetworks, LearnWithAnotherKindOfOptimizerEach) {
  expect_as_with_two(gan_config(second_words()), adam_at(0.01), [](std::vector<at::Tensor> all) {
    return std::make_unique<torch::optim::SGD>(std::move(all),
                                               torch::optim::SGDOptions(0.03).momentum(0.7));
  });
}

TEST(TwoNetworks, WithAnotherKindEachEndAlikeOnAnyRanks) {
  Words words = second_words();
  words.emplace_back("train.logical_ranks=2");
  const Trained one = train_threads(gan_config(words), 1, 4);
  for (const char* how : {"all_reduce", "shared", "zero1", "zero2", "zero3"}) {
    Words here = words;
    here.push_back(std::string("sync.kind=") + how);
    expect_same_bits(one, train_threads(gan_config(here), 2, 4), how);
  }
}

TEST(TwoNetworks, SayWhichWeightsTheSecondRuleIsFor) {
  EXPECT_THROW(open_job(gan_config({"optim.second.kind=sgd"}), tiny_kinds()), Error);
  EXPECT_THROW(open_job(gan_config({"optim.second.names=[\"discriminator.*\"]"}), tiny_kinds()),
               Error);
  EXPECT_THROW(open_job(gan_config({"optim.second.kind=sgd", "optim.second.names=[\"judge.*\"]"}),
                        tiny_kinds()),
               Error);
  Words still = second_words();
  still.emplace_back("optim.lr=0");
  EXPECT_THROW(open_job(gan_config(still), tiny_kinds()), Error);
}

TEST(TwoNetworks, EachLossReachesItsOwn) {
  Job job = open_job(gan_config(), tiny_kinds());
  std::vector<at::Tensor> losses;
  const data::Batch batch = job.loader().next().batches.at(0);
  job.model->forward(batch.input, {.is_training = true, .losses = &losses});
  losses[1].backward();
  for (const at::Tensor& other : parameters_under(*job.model, "discriminator.")) {
    EXPECT_FALSE(other.grad().defined());
  }
  for (const at::Tensor& own : parameters_under(*job.model, "generator.")) {
    EXPECT_TRUE(own.grad().defined());
  }
}

TEST(TwoNetworks, EndAlikeOnAnyRanks) {
  const config::Config config = gan_config({"train.logical_ranks=2", "sync.kind=all_reduce"});
  const Trained one = train_threads(config, 1, 4);
  expect_same_bits(one, train_threads(config, 2, 4), "two ranks");
}

TEST(TwoNetworks, NeedPicturesOfOneClass) {
  EXPECT_THROW(open_job(gan_config({"data.sizes=[1, 8, 10]"}), tiny_kinds()), Error);
  EXPECT_THROW(open_job(gan_config({"data.task=classification", "data.sizes=[8]"}), tiny_kinds()),
               Error);
  EXPECT_THROW(open_job(gan_config({"loss.kind=mse"}), tiny_kinds()), Error);
}

TEST(PicturesOfClasses, LieInRowsAndColumns) {
  // Two of 1 x 2 pixels in a row: with a line of black between them and around them.
  const at::Tensor all = at::tensor({-1.0F, 1.0F, 0.0F, 9.0F}).view({2, 1, 1, 2});
  const data::image::Pixels grid = picture_grid(all, 2);
  EXPECT_EQ(grid.height, 3);
  EXPECT_EQ(grid.width, 7);
  EXPECT_EQ(grid.bytes[static_cast<std::size_t>(grid.width + 1)], 0);
  EXPECT_EQ(grid.bytes[static_cast<std::size_t>(grid.width + 2)], 255);
  EXPECT_EQ(grid.bytes[static_cast<std::size_t>(grid.width + 4)], 128);
  EXPECT_EQ(grid.bytes[static_cast<std::size_t>(grid.width + 5)], 255) << "cut off";
}

class GanJob : public TrainerTest {};

TEST_F(GanJob, DrawsEveryClass) {
  bool has_png = false;
  for (const base::BuildPart& part : base::build_info().parts) {
    has_png |= part.name == "png" && part.is_on();
  }
  if (!has_png) GTEST_SKIP() << "this build has no libpng";
  const config::Config config = gan_config({"data.mean=[0.5]", "data.std=[0.5]"});
  Job job = open_job(config, tiny_kinds());
  Reporter reporter({});
  Trainer(job, {.output = at("gan"), .reporter = &reporter}).run();
  write_file_atomically(at("gan") / "config.toml", config.to_toml());
  const auto draw = [&](const std::string& seed) {
    const Words words{"generate", "--output", at("gan").string(), "--count", "4", "--seed", seed};
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(answer_generate(WorkerWords(words), tiny_kinds()), 0);
    EXPECT_NE(::testing::internal::GetCapturedStdout().find("samples.png"), std::string::npos);
    data::image::Pixels pixels;
    const std::string file = read_file(at("gan") / "samples.png");
    data::png::decode(bytes_of(file), true, pixels);
    return pixels;
  };
  const data::image::Pixels first = draw("1");
  EXPECT_EQ(first.height, 3 * 9 + 1);
  EXPECT_EQ(first.width, 4 * 13 + 1);
  EXPECT_EQ(first.bytes, draw("1").bytes);
  EXPECT_NE(first.bytes, draw("2").bytes);
}

}  // namespace
}  // namespace trireme::train
