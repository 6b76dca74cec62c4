// Goal:   pending rows are added once to the gradient of their own parameter; a row that occurs
//         several times is added each time.
// Method: two small embedding gradients.

#include "trireme/parallel/pending_rows.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace trireme::parallel {
namespace {

TEST(PendingRows, AreAddedOnceToTheGradientOfTheirParameter) {
  PendingRows pending;
  const at::Tensor rows = torch::tensor({1, 1, 2});
  pending.add(0, rows, torch::ones({3, 2}));
  pending.add(1, rows, torch::ones({3, 2}) * 10);
  pending.add(0, torch::tensor({0}), torch::ones({1, 2}));
  const at::Tensor first = torch::ones({3, 2}), second = torch::zeros({3, 2});
  for (int times = 0; times < 2; ++times) pending.flush(0, first);
  EXPECT_TRUE(first.select(1, 0).equal(torch::tensor({2.F, 3.F, 2.F})));
  pending.clear();
  pending.flush(1, second);
  EXPECT_EQ(second.sum().item<float>(), 0);
}

}  // namespace
}  // namespace trireme::parallel
