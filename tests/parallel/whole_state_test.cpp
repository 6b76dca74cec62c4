// Goal:   whole tensors are assembled from pieces and written back to them, by name and offset; the
//         state of all ranks, in whatever shards they hold it, is whole on each of them.
// Method: a piece of one parameter and one of its optimizer state, written by hand; two ranks as
//         threads, each with the pieces of half a parameter.

#include "trireme/parallel/whole_state.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/saved_state.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

const std::vector<std::string> kMomentum{"momentum"};

TEST(WholeState, IsAssembledFromPiecesAndWrittenBack) {
  const std::vector<Parameter> parameters{{.name = "w", .tensor = torch::zeros({2, 3})}};
  const checkpoint::Piece value{
      .name = "w", .shard = {{2, 3}}, .begin = 1, .data = torch::tensor({5.f, 6.f})};
  const checkpoint::Piece state{
      .name = "optim/momentum/w", .shard = {{2, 3}}, .begin = 4, .data = torch::tensor({7.f, 8.f})};
  const OwnState own{parameters, kMomentum, {value, state}};

  std::vector<std::string> names;
  WholeState sums;
  reduce_state(own, comm::Group::solo(), comm::ReduceOp::Sum,
               [&](const std::string& name, const at::Tensor& whole) {
                 names.push_back(name);
                 sums[name] = whole;
               });
  EXPECT_EQ(names, (std::vector<std::string>{"w", "optim/momentum/w"}));
  EXPECT_TRUE(sums["w"].equal(torch::tensor({{0.f, 5.f, 6.f}, {0.f, 0.f, 0.f}})));
  EXPECT_TRUE(sums["optim/momentum/w"].equal(torch::tensor({{0.f, 0.f, 0.f}, {0.f, 7.f, 8.f}})));
  const float none = -std::numeric_limits<float>::infinity();
  WholeState most = whole_state(own, comm::Group::solo());
  EXPECT_TRUE(most["w"].equal(torch::tensor({{none, 5.f, 6.f}, {none, none, none}})));

  write_pieces("w", torch::arange(6, torch::kFloat).view({2, 3}), own.pieces);
  EXPECT_TRUE(value.data.equal(torch::tensor({1.f, 2.f})));
  EXPECT_TRUE(state.data.equal(torch::tensor({7.f, 8.f})));
}

// The elements of "w" and of its momentum from `begin` on.
std::vector<checkpoint::Piece> pieces_from(std::int64_t begin, std::int64_t count, float value) {
  return {{.name = "w", .shard = {{4}}, .begin = begin, .data = torch::full({count}, value)},
          {.name = state_name("momentum", "w"),
           .shard = {{4}},
           .begin = begin,
           .data = torch::full({count}, value + 10)}};
}

TEST(WholeState, ShardsBecomeWholeOnEveryRank) {
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(2, [&](int rank) {
    const std::vector<Parameter> parameters{{.name = "w", .tensor = torch::zeros({4})}};
    const OwnState half{parameters, kMomentum,
                        pieces_from(2 * rank, 2, static_cast<float>(rank + 1))};
    const WholeState state = whole_state(half, groups[static_cast<std::size_t>(rank)]);
    const std::vector<checkpoint::Piece> whole = pieces_from(0, 4, 0);
    write_state(state, whole);
    EXPECT_TRUE(whole[0].data.equal(torch::tensor({1.0F, 1.0F, 2.0F, 2.0F})));
    EXPECT_TRUE(whole[1].data.equal(whole[0].data + 10));
  });
}

}  // namespace
}  // namespace trireme::parallel
