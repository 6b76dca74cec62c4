// Goal:   the state of all ranks, in whatever shards they hold it, is whole on each of them, and
//         the next strategy gets it.
// Method: two ranks as threads; each holds the pieces of half a parameter.

#include "trireme/parallel/state_handover.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

// The elements of "w" and of its momentum from `begin` on.
struct Part final : SavedState {
  Part(std::int64_t from, std::int64_t count, float value)
      : begin(from), weight(torch::full({count}, value)), momentum(weight + 10) {}

  std::vector<checkpoint::Piece> pieces() override {
    return {
        {.name = "w", .shard = {{4}}, .begin = begin, .data = weight},
        {.name = state_name("momentum", "w"), .shard = {{4}}, .begin = begin, .data = momentum}};
  }
  void restored() override { is_restored = true; }

  std::int64_t begin;
  at::Tensor weight, momentum;
  bool is_restored = false;
};

TEST(StateHandover, ShardsBecomeWholeOnEveryRank) {
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(2, [&](int rank) {
    const at::Tensor parameter = torch::zeros({4});
    parameter.mutable_grad() = torch::ones({4});
    const StateHandover handover({{.name = "w", .tensor = parameter}}, {"momentum"});
    Part half(2 * rank, 2, static_cast<float>(rank + 1));
    const auto state = handover.whole(half, groups[static_cast<std::size_t>(rank)]);
    handover.take(state);
    EXPECT_TRUE(parameter.equal(torch::tensor({1.0F, 1.0F, 2.0F, 2.0F})));
    EXPECT_FALSE(parameter.grad().defined());
    Part whole(0, 4, 0);
    StateHandover::give(state, whole);
    EXPECT_TRUE(whole.weight.equal(parameter));
    EXPECT_TRUE(whole.momentum.equal(parameter + 10));
    EXPECT_TRUE(whole.is_restored);
  });
}

}  // namespace
}  // namespace trireme::parallel
