// Goal:   the cross entropy of logits that are cut over ranks, and its gradient, are those of whole
//         logits: with label smoothing, ignored targets, parts of different sizes, logits so large
//         that their exponentials overflow, and 16-bit logits. Other losses are refused.
// Method: ranks as threads, compared with torch on one rank; 1e-12 in float64, because only the
//         order of the sums differs.

#include "trireme/parallel/tensor/sharded_cross_entropy.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/tensor/sums.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::tensor {
namespace {

constexpr std::int64_t kTokens = 7, kWords = 11;

VocabularyShard part(int rank, int ranks) {
  const std::int64_t begin = rank * kWords / ranks, end = (rank + 1) * kWords / ranks;
  return {.begin = begin, .count = end - begin, .total = kWords};
}

void on_parts(int ranks,
              const std::function<void(const comm::Group&, const VocabularyShard&)>& body) {
  const auto groups = comm::connect_threads(ranks, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(
      ranks, [&](int rank) { body(groups[static_cast<std::size_t>(rank)], part(rank, ranks)); });
}

at::Tensor words() {
  return torch::arange(kTokens).mul(5).remainder(kWords);
}

// Up to 1,000, where exp() overflows.
at::Tensor logits(at::ScalarType type) {
  return torch::linspace(-1000, 1000, kTokens * kWords, type).view({kTokens, kWords}).sin() * 1000;
}

void expect_as_whole(const model::CrossEntropy::Options& options, int ranks, at::ScalarType type,
                     double tolerance) {
  const auto plain = model::cross_entropy(options);
  const at::Tensor whole = logits(type).requires_grad_();
  const at::Tensor wanted = plain->sum(whole, words());
  (wanted * 3).backward();
  on_parts(ranks, [&](const comm::Group& group, const VocabularyShard& shard) {
    const at::Tensor mine =
        whole.detach().narrow(1, shard.begin, shard.count).clone().requires_grad_();
    const auto loss = sharded(*plain, group, shard);
    const at::Tensor sum = loss->sum(mine, words());
    (sum * 3).backward();
    EXPECT_NEAR(sum.item<double>(), wanted.item<double>(), tolerance * wanted.item<double>());
    const at::Tensor gradient = whole.grad().narrow(1, shard.begin, shard.count);
    EXPECT_LT((mine.grad() - gradient).abs().max().item<double>(), tolerance * 10);
    EXPECT_EQ(loss->terms(words()), plain->terms(words()));
  });
}

TEST(ShardedCrossEntropy, EqualsThatOfWholeLogits) {
  for (const int ranks : {1, 2, 3, 5}) {
    SCOPED_TRACE(ranks);
    expect_as_whole({}, ranks, at::kDouble, 1e-12);
    expect_as_whole({.label_smoothing = 0.1}, ranks, at::kDouble, 1e-12);
    expect_as_whole({.ignored = 5}, ranks, at::kDouble, 1e-12);
    expect_as_whole({.label_smoothing = 0.3, .ignored = 0}, ranks, at::kDouble, 1e-12);
  }
}

// They are computed in float32 and rounded once.
TEST(ShardedCrossEntropy, TakesLogitsOfSixteenBits) {
  expect_as_whole({}, 2, at::kBFloat16, 1e-2);
}

TEST(ShardedCrossEntropy, AcceptsWholeLogits) {
  const at::Tensor whole = logits(at::kDouble);
  const auto plain = model::cross_entropy();
  on_parts(2, [&](const comm::Group& group, const VocabularyShard& shard) {
    EXPECT_EQ(sharded(*plain, group, shard)->sum(whole, words()).item<double>(),
              plain->sum(whole, words()).item<double>());
  });
}

TEST(ShardedCrossEntropy, RefusesLossesThatNeedAllLogits) {
  const auto code_of = [](const model::Loss& loss) {
    return testing::code_of([&] { sharded(loss, comm::Group::solo(), part(0, 1)); });
  };
  EXPECT_EQ(code_of(*model::mse()), ErrorCode::Unsupported);
  EXPECT_EQ(code_of(*model::cross_entropy({.focus = 2})), ErrorCode::Unsupported);
  const std::vector<double> weights(kWords, 1.0);
  EXPECT_EQ(code_of(*model::cross_entropy({.class_weights = weights})), ErrorCode::Unsupported);
}

TEST(TensorSums, CommunicateInOneDirectionEach) {
  const auto groups = comm::connect_threads(3, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(3, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    const at::Tensor x = torch::full({2}, rank + 1.0, torch::kDouble).requires_grad_();
    with_summed_gradient(x, group).mul(rank + 1).sum().backward();
    EXPECT_EQ(x.grad()[0].item<double>(), 6) << "1 + 2 + 3";
    x.mutable_grad().reset();
    const at::Tensor y = summed(x * 2, group);
    EXPECT_EQ(y[0].item<double>(), 12);
    y.mul(5).sum().backward();
    EXPECT_EQ(x.grad()[0].item<double>(), 10);
  });
}

}  // namespace
}  // namespace trireme::parallel::tensor
