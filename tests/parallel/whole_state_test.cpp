// Goal:   whole tensors are assembled from pieces and written back to them, by name and offset.
// Method: a piece of one parameter and one of its optimizer state, written by hand.

#include "trireme/parallel/whole_state.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace trireme::parallel {
namespace {

TEST(WholeState, IsAssembledFromPiecesAndWrittenBack) {
  const std::vector<Parameter> parameters{{.name = "w", .tensor = torch::zeros({2, 3})}};
  const std::vector<StateTensor> all = tensors_of(parameters, {"momentum"});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "w");
  EXPECT_EQ(all[1].name, "optim/momentum/w");

  const checkpoint::Piece value{
      .name = "w", .shard = {{2, 3}}, .begin = 1, .data = torch::tensor({5.f, 6.f})};
  const checkpoint::Piece state{
      .name = "optim/momentum/w", .shard = {{2, 3}}, .begin = 4, .data = torch::tensor({7.f, 8.f})};
  const at::Tensor whole = whole_of(all[0], {value, state}, -1);
  EXPECT_TRUE(whole.equal(torch::tensor({{-1.f, 5.f, 6.f}, {-1.f, -1.f, -1.f}}))) << whole;
  EXPECT_TRUE(
      whole_of(all[1], {value, state}, 0).equal(torch::tensor({{0.f, 0.f, 0.f}, {0.f, 7.f, 8.f}})));

  write_pieces("w", torch::arange(6, torch::kFloat).view({2, 3}), {value, state});
  EXPECT_TRUE(value.data.equal(torch::tensor({1.f, 2.f})));
  EXPECT_TRUE(state.data.equal(torch::tensor({7.f, 8.f})));
}

}  // namespace
}  // namespace trireme::parallel
