// Goal:   the scores of an evaluation do not depend on the number of ranks that share it; jobs with
//         resampled or weighted classes train equally on any number of ranks.
// Method: a small model over 11 samples on 1, 2 and 3 ranks, compared with torch over all samples
//         and the definitions of the metrics.

#include "trireme/train/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include "tests/train/tiny_job.h"

namespace trireme::train {
namespace {

struct Answers {
  at::Tensor shares;  // (N, C)
  at::Tensor truth;
};

Answers answers_of(Job& job) {
  const data::Form& form = job.sets.test->form();
  const std::int64_t count = job.sets.test->count();
  at::Tensor x = at::empty({count, form.input_count()});
  at::Tensor y = at::empty({count}, at::kLong);
  for (std::int64_t i = 0; i < count; ++i) {
    job.sets.test->read(i, {}, x[i].data_ptr(), y[i].data_ptr());
  }
  const at::NoGradGuard no_grad;
  return {job.model->forward(x, {}).softmax(1), y};
}

// Of each class against the rest, pair by pair, and the mean of those that occur.
double area_by_pairs(const Answers& all) {
  double sum = 0;
  int classes = 0;
  for (std::int64_t c = 0; c < all.shares.size(1); ++c) {
    const at::Tensor is_of = all.truth.eq(c);
    const at::Tensor in = all.shares.select(1, c).masked_select(is_of);
    const at::Tensor out = all.shares.select(1, c).masked_select(is_of.logical_not());
    if (in.numel() == 0 || out.numel() == 0) continue;
    const at::Tensor above = in.unsqueeze(1) - out.unsqueeze(0);
    sum += (above.gt(0).to(at::kDouble) + above.eq(0).to(at::kDouble) / 2).mean().item<double>();
    ++classes;
  }
  return sum / classes;
}

double recall_in_the_mean(const Answers& all) {
  const at::Tensor answer = all.shares.argmax(1);
  double sum = 0;
  int classes = 0;
  for (std::int64_t c = 0; c < all.shares.size(1); ++c) {
    const at::Tensor of = answer.masked_select(all.truth.eq(c));
    if (of.numel() == 0) continue;
    sum += of.eq(c).to(at::kDouble).mean().item<double>();
    ++classes;
  }
  return sum / classes;
}

TEST(EvaluationOnRanks, IsThatOfAllAnswers) {
  const config::Config config = tiny_config("mlp", {"data.classes=7"});
  for (const int ranks : {1, 2, 3}) {
    train_threads(config, ranks, 2, tiny_kinds(), [&](Job& job) {
      const Answers all = answers_of(job);
      const Scores scores = evaluate(*job.model, {.source = job.sets.test,
                                                  .loss = job.loss.get(),
                                                  .batch = 2,
                                                  .is_ranked = true,
                                                  .group = job.group});
      EXPECT_NEAR(scores.value_of("roc_auc"), area_by_pairs(all), 1e-12) << ranks;
      EXPECT_NEAR(scores.value_of("balanced_accuracy"), recall_in_the_mean(all), 1e-12);
      const at::Tensor five = std::get<1>(all.shares.topk(5, 1)).eq(all.truth.unsqueeze(1));
      EXPECT_NEAR(scores.value_of("top5"), five.sum().item<double>() / 11, 1e-12);
    });
  }
}

TEST(EvaluationOnRanks, OfNumbersIsThatOfAllAnswers) {
  const config::Config config = tiny_config("mlp", {"data.task=regression"});
  train_threads(config, 2, 1, tiny_kinds(), [](Job& job) {
    const data::Form& form = job.sets.test->form();
    at::Tensor x = at::empty({11, form.input_count()}), y = at::empty({11, form.target_count()});
    for (std::int64_t i = 0; i < 11; ++i) {
      job.sets.test->read(i, {}, x[i].data_ptr(), y[i].data_ptr());
    }
    const Scores scores =
        evaluate(*job.model,
                 {.source = job.sets.test, .loss = job.loss.get(), .batch = 2, .group = job.group});
    const at::NoGradGuard no_grad;
    const at::Tensor error = job.model->forward(x, {}).reshape({-1}) - y.reshape({-1});
    EXPECT_NEAR(scores.value_of("mae"), error.abs().mean().item<double>(), 1e-6);
    const double left = error.square().sum().item<double>();
    const double all = (y - y.mean()).square().sum().item<double>();
    EXPECT_NEAR(scores.value_of("r2"), 1 - left / all, 1e-5);
  });
}

TEST(ResampledJobs, EndAlikeOnAnyRanks) {
  for (const Words& words : {Words{"data.balance=over", "data.stratify=true"},
                             Words{"data.balance=under", "loss.kind=focal"},
                             Words{"data.folds=3", "data.fold=1", "loss.kind=cross_entropy",
                                   "loss.balanced=true", "data.stratify=true"}}) {
    Words all = words;
    all.emplace_back("train.logical_ranks=4");
    const config::Config config = tiny_config("mlp", all);
    const Trained one = train_threads(config, 1, 9);
    expect_same_bits(one, train_threads(config, 3, 9), words.front());
  }
}

}  // namespace
}  // namespace trireme::train
