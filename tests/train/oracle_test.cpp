// Goal:   the figures of an evaluation are scikit-learn's.
// Method: random answers, of few and of many classes, counted here in uneven batches and by
//         tests/train/oracle.py. Skipped, loudly, where Python has no scikit-learn.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "trireme/base/bytes.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/labels.h"
#include "trireme/data/memory/tensor_source.h"
#include "trireme/model/loss/loss.h"
#include "trireme/testing/command_process.h"
#include "trireme/train/evaluate/tally.h"

namespace trireme::train {
namespace {

constexpr int kNoSklearn = 77;
constexpr std::int64_t kOracleSamples = 331;

void write_raw(const std::filesystem::path& file, const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  write_file_atomically(file, std::string(static_cast<const char*>(flat.const_data_ptr()),
                                          static_cast<std::size_t>(flat.nbytes())));
}

// Samples with answers, counted in batches of 32.
Scores counted(const data::Source& source, const at::Tensor& answers, const at::Tensor& truth,
               bool is_ranked) {
  const auto loss = is_ranked ? model::cross_entropy() : model::mse();
  Tally tally(source, *loss, is_ranked);
  for (std::int64_t first = 0; first < kOracleSamples; first += 32) {
    const std::int64_t count = std::min<std::int64_t>(32, kOracleSamples - first);
    tally.add(
        first, answers.narrow(0, first, count),
        {.input = {}, .target = truth.narrow(0, first, count), .places = torch::arange(count)});
  }
  return tally.finish();
}

void compare_with_oracle(std::int64_t classes) {
  const TemporaryFolder folder("oracle");
  torch::manual_seed(classes);
  const at::Tensor truth = torch::randint(classes, {kOracleSamples});
  const at::Tensor logits =
      torch::randn({kOracleSamples, classes}) + 1.5 * torch::one_hot(truth, classes);
  const at::Tensor numbers = torch::randn({kOracleSamples, 1}, at::kDouble) * 3 + 1;
  const at::Tensor guesses = numbers + torch::randn({kOracleSamples, 1}, at::kDouble);
  write_raw(folder.path() / "truth.bin", truth);
  write_raw(folder.path() / "shares.bin", logits.softmax(1));
  write_raw(folder.path() / "numbers.bin", numbers);
  write_raw(folder.path() / "guesses.bin", guesses);
  testing::CommandProcess python(
      {.command = {python_program(), source_folder() + "/tests/train/oracle.py",
                   folder.path().string(), std::to_string(classes)},
       .environment = {{"OMP_NUM_THREADS", "1"}}});
  const int code = python.wait_exit(Deadline::after(std::chrono::minutes(3)));
  if (code == kNoSklearn) {
    GTEST_SKIP() << "NOT TESTED against scikit-learn: " << python_program()
                 << " has none; `pip install scikit-learn` there";
  }
  ASSERT_EQ(code, 0) << python.error();
  const auto said = nlohmann::json::parse(python.out());
  const data::memory::TensorSource source(torch::zeros({kOracleSamples, 1}), truth,
                                          {.classes = classes});
  const Scores scores = counted(source, logits, truth, true);
  for (const char* name : {"loss", "accuracy", "balanced_accuracy", "f1", "roc_auc"}) {
    // Answers that are equal but for rounding may change places.
    const double room = name == std::string("roc_auc") ? 1e-4 : 1e-6;
    EXPECT_NEAR(scores.value_of(name), said.at(name).get<double>(), room) << name;
  }
  for (const char* name : {"top2", "top3", "top5"}) {
    if (classes <= 5) break;
    EXPECT_NEAR(scores.value_of(name), said.at(name).get<double>(), 1e-9) << name;
  }
  EXPECT_EQ(scores.matrix(), said.at("matrix").get<std::vector<std::int64_t>>());
  const std::vector<double> weights =
      data::balanced_weights(data::count_labels(data::labels_of(source, "a test"), classes));
  for (std::size_t c = 0; c < static_cast<std::size_t>(classes); ++c) {
    EXPECT_NEAR(scores.classes()[c].precision, said.at("precision")[c].get<double>(), 1e-12);
    EXPECT_NEAR(scores.classes()[c].recall, said.at("recall")[c].get<double>(), 1e-12);
    EXPECT_NEAR(weights[c], said.at("weights")[c].get<double>(), 1e-12);
  }
  const data::memory::TensorSource lines(torch::zeros({kOracleSamples, 1}), numbers.to(at::kFloat));
  const Scores errors = counted(lines, guesses, numbers, false);
  EXPECT_NEAR(errors.numbers().mean_absolute(), said.at("mae").get<double>(), 1e-9);
  EXPECT_NEAR(errors.numbers().r2(), said.at("r2").get<double>(), 1e-9);
}

TEST(FiguresOfScikitLearn, OfTwoClasses) {
  compare_with_oracle(2);
}

TEST(FiguresOfScikitLearn, OfNineClasses) {
  compare_with_oracle(9);
}

}  // namespace
}  // namespace trireme::train
