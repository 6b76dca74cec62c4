// Goal:   the dropout mask depends on the sample and not on where it is computed; the probability
//         is correct; the gradient is the mask; one sample or many, whole or in part, give bitwise
//         identical results.
// Method: dropout of ones shows the mask; samples in other rows; sizes around the vector width.

#include "trireme/model/layer/dropout.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/model/layer/kernel/dropout.h"

namespace trireme::model {
namespace {

Context context_of(std::vector<std::int64_t> places) {
  return {.is_training = true, .seed = 7, .step = 3, .places = torch::tensor(places)};
}

at::Tensor mask(std::vector<std::int64_t> places, std::int64_t size, int layer = 2) {
  const auto rows = static_cast<std::int64_t>(places.size());
  return dropout(torch::ones({rows, size}), 0.25, layer, context_of(std::move(places)));
}

TEST(ModelDropout, ASampleKeepsItsMaskInEverySlot) {
  for (const std::int64_t size : {1, 127, 128, 129, 1000}) {
    const at::Tensor whole = mask({0, 1, 2, 3}, size);
    EXPECT_TRUE(mask({2, 3}, size).equal(whole.slice(0, 2)));
    EXPECT_TRUE(mask({3, 0}, size)[1].equal(whole[0]));
  }
  EXPECT_TRUE(mask({0, 1}, 300)
                  .equal(dropout(torch::ones({2, 300}), 0.25, 2,
                                 {.is_training = true, .seed = 7, .step = 3})));
}

TEST(ModelDropout, OtherSeedsStepsLayersAndPlacesDropOthers) {
  const at::Tensor one = mask({5}, 1000);
  EXPECT_FALSE(one.equal(mask({6}, 1000)));
  EXPECT_FALSE(one.equal(mask({5}, 1000, 3)));
  Context other = context_of({5});
  other.step = 4;
  EXPECT_FALSE(one.equal(dropout(torch::ones({1, 1000}), 0.25, 2, other)));
  other = context_of({5});
  other.seed = 8;
  EXPECT_FALSE(one.equal(dropout(torch::ones({1, 1000}), 0.25, 2, other)));
}

TEST(ModelDropout, RateAndScaleAreRight) {
  for (const double p : {0.1, 0.5, 0.9}) {
    const at::Tensor y = dropout(torch::ones({64, 4096}), p, 0, {.is_training = true, .seed = 1});
    const double dropped = y.eq(0).to(at::kDouble).mean().item<double>();
    EXPECT_NEAR(dropped, p, 5 * std::sqrt(p * (1 - p) / (64 * 4096)));
    EXPECT_NEAR(y.max().item<double>(), 1 / (1 - p), 1e-3);
  }
}

TEST(ModelDropout, GradientIsTheMask) {
  const at::Tensor x = torch::rand({3, 5, 40}, torch::requires_grad());
  const at::Tensor y = dropout(x, 0.3, 1, context_of({9, 8, 1}));
  y.sum().backward();
  const at::Tensor ones = dropout(torch::ones({3, 5, 40}), 0.3, 1, context_of({9, 8, 1}));
  EXPECT_TRUE(x.grad().equal(ones));
  EXPECT_TRUE(y.detach().equal(x.detach() * ones));
}

TEST(ModelDropout, LeavesEvaluationAloneAndTakesAnyTypeAndLayout) {
  const at::Tensor x = torch::rand({2, 30, 7});
  EXPECT_TRUE(dropout(x, 0.5, 0, {}).is_same(x));
  EXPECT_TRUE(dropout(x, 0.0, 0, context_of({0, 1})).is_same(x));
  const at::Tensor plain = dropout(x, 0.5, 0, context_of({0, 1}));
  const at::Tensor strided = x.transpose(1, 2).contiguous().transpose(1, 2);
  EXPECT_TRUE(dropout(strided, 0.5, 0, context_of({0, 1})).equal(plain));
  for (const auto type : {at::kDouble, at::kBFloat16, at::kHalf}) {
    EXPECT_TRUE(dropout(x.to(type), 0.5, 0, context_of({0, 1})).eq(0).equal(plain.eq(0)));
  }
  EXPECT_EQ(dropout(torch::ones({0, 4}), 0.5, 0, {.is_training = true}).numel(), 0);
  EXPECT_THROW(dropout(x, 1.0, 0, context_of({0, 1})), Error);
  EXPECT_THROW(dropout(x, 0.5, 0, context_of({0})), Error);
}

TEST(ModelDropout, PartsOfASampleAreThoseOfTheWhole) {
  const auto mask = kernel::DropoutMask::of(4, std::int64_t{1} << 33, 1, 0.4);
  std::vector<float> whole(1000), part(300);
  kernel::dropout_factors(mask, 17, 0, 1000, whole.data());
  for (const std::int64_t begin : {0, 1, 127, 128, 500, 700}) {
    kernel::dropout_factors(mask, 17, begin, 300, part.data());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin)) << begin;
  }
}

}  // namespace
}  // namespace trireme::model
