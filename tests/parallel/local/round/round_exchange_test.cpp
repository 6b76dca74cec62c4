// Goal:   an action of a round combines the fragments and buffers whose turn it is; while ranks are
//         lost it is only noted, and performed afterwards.
// Method: two ranks as threads with one weight each, without training.

#include "trireme/parallel/local/round/round_exchange.h"

#include "tests/parallel/local/round/one_weight.h"

namespace trireme::parallel::local {
namespace {

RoundTurn landing(bool has_buffers) {
  RoundTurn turn(1);
  turn.lands = {true};
  turn.has_buffers = has_buffers;
  return turn;
}

TEST(RoundExchange, CombinesWhatHasItsTurn) {
  on_ranks(2, [](const comm::Group& group) {
    OneWeight one(group);
    one.exchange.set_alike(false);
    one.exchange.begin_step(0);
    one.exchange.end_round(RoundTurn(1));
    EXPECT_EQ(one.value(), group.rank()) << "no fragment has its turn";
    EXPECT_FALSE(one.exchange.is_alike());
    one.exchange.end_round(landing(false));
    EXPECT_EQ(one.value(), 0.5);
    EXPECT_TRUE(one.exchange.is_alike());
    EXPECT_EQ(one.buffer.item<float>(), static_cast<float>(group.rank()));
    one.exchange.end_round(landing(true));
    EXPECT_EQ(one.buffer.item<float>(), 0.5);
  });
}

TEST(RoundExchange, PerformsLaterWhatWasDueDuringAFailure) {
  on_ranks(2, [](const comm::Group& group) {
    OneWeight one(group);
    one.exchange.begin_step(3);
    one.exchange.pause();
    one.exchange.end_round(landing(false));
    EXPECT_EQ(one.value(), group.rank());
    EXPECT_EQ(one.exchange.due(), (RoundAction{.step = 3, .occasion = Occasion::Round}));
    one.exchange.settle(/*is_done=*/false);
    one.exchange.resume();
    EXPECT_EQ(one.value(), 0.5);
    EXPECT_EQ(one.exchange.due().step, -1);
    EXPECT_EQ(one.exchange.begun().step, 3);
  });
}

TEST(RoundExchange, JoiningAveragesWeightsAndOptimizerState) {
  on_ranks(3, [](const comm::Group& group) {
    OneWeight one(group, /*can_lose_ranks=*/true);
    one.momentum().fill_(10 + group.rank());
    one.exchange.begin_step(3);
    one.exchange.join();
    EXPECT_EQ(one.value(), 1);
    EXPECT_EQ(one.buffer.item<float>(), 1);
    EXPECT_TRUE(one.momentum().eq(11).all().item<bool>());
  });
}

TEST(RoundExchange, ANewRankFollowsThePositionOfAnother) {
  on_ranks(1, [](const comm::Group& group) {
    OneWeight one(group), other(group);
    one.exchange.begin_step(7);
    one.exchange.pause();
    one.exchange.end_round(landing(true));
    other.exchange.follow(one.exchange.position());
    EXPECT_EQ(other.exchange.step(), 7);
    EXPECT_EQ(other.exchange.due(), one.exchange.due());
    EXPECT_EQ(other.exchange.position(), one.exchange.position());
  });
}

}  // namespace
}  // namespace trireme::parallel::local
