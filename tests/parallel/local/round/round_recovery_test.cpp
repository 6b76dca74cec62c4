// Goal:   a rank without a state gets weights, optimizer state, buffers and position of one that
//         has a state; the buffers of a step that runs again are those before it.
// Method: two ranks as threads with one weight each, without training.

#include "trireme/parallel/local/round/round_recovery.h"

#include "tests/parallel/local/round/one_weight.h"

namespace trireme::parallel::local {
namespace {

TEST(RoundRecovery, ANewRankGetsTheStateOfOneThatHasIt) {
  on_ranks(2, [](const comm::Group& group) {
    OneWeight one(group);
    const bool is_new = group.rank() == 0;
    one.momentum().fill_(10 + group.rank());
    if (!is_new) {
      one.recovery.restored();
      one.exchange.begin_step(5);
      one.end.begin_step(5);
    }
    one.recovery.survive(group, {0, 1});
    one.recovery.regroup(is_new);
    EXPECT_EQ(one.value(), 1);
    EXPECT_TRUE(one.momentum().eq(11).all().item<bool>());
    EXPECT_EQ(one.buffer.item<float>(), 1);
    EXPECT_EQ(one.exchange.step(), 5);
    EXPECT_EQ(one.end.began(), 0);
  });
}

TEST(RoundRecovery, AStepThatRunsAgainBeginsWithItsBuffers) {
  on_ranks(2, [](const comm::Group& group) {
    OneWeight one(group);
    one.recovery.begin_step();
    one.replicas.begin_step(
        {.micro_batch_count = 2, .micro_batches = {group.rank()}, .owners = {0, 1}});
    one.buffer.fill_(9);
    one.recovery.survive(group, {0, 1});
    one.recovery.restored();
    one.recovery.regroup(/*is_new=*/false);
    EXPECT_EQ(one.buffer.item<float>(), static_cast<float>(group.rank()));
  });
}

}  // namespace
}  // namespace trireme::parallel::local
