// Goal:   actions name themselves and their counterparts, placements say which rank has which
// stage, and both refuse what cannot be. Method: one of each kind, by hand.

#include "trireme/parallel/pipeline/action.h"

#include <gmock/gmock.h>

#include "trireme/parallel/pipeline/stage_placement.h"
#include "trireme/testing/code_of.h"

namespace trireme::parallel::pipeline {
namespace {

using testing::code_of;
using Kind = Action::Kind;
using ::testing::ElementsAre;

TEST(Action, NamesItsMicroBatchAndStage) {
  EXPECT_EQ((Action{Kind::Forward, 3, 1}.to_text()), "forward of micro-batch 3 on stage 1");
  EXPECT_EQ((Action{Kind::Backward, 0, 2}.to_text()), "backward of micro-batch 0 on stage 2");
  EXPECT_EQ((Action{Kind::BackwardInput, 0, 2}.to_text()),
            "backward for the input of micro-batch 0 on stage 2");
  EXPECT_EQ((Action{Kind::BackwardWeight, 0, 2}.to_text()),
            "backward for the weights of micro-batch 0 on stage 2");
  EXPECT_EQ((Action{Kind::SendActivations, 4, 0}.to_text()),
            "send of activations of micro-batch 4 from stage 0");
  EXPECT_EQ((Action{Kind::ReceiveGradients, 4, 0}.to_text()),
            "receive of gradients of micro-batch 4 for stage 0");
}

TEST(Action, TheCounterpartOfACounterpartIsTheTransferItself) {
  EXPECT_EQ(counterpart_of({Kind::SendActivations, 4, 1}),
            (Action{Kind::ReceiveActivations, 4, 2}));
  EXPECT_EQ(counterpart_of({Kind::SendGradients, 4, 1}), (Action{Kind::ReceiveGradients, 4, 0}));
  for (const Kind kind : {Kind::SendActivations, Kind::SendGradients, Kind::ReceiveActivations,
                          Kind::ReceiveGradients}) {
    const Action transfer{kind, 2, 5};
    EXPECT_EQ(counterpart_of(counterpart_of(transfer)), transfer);
    EXPECT_NE(counterpart_of(transfer).is_send(), transfer.is_send());
    EXPECT_EQ(counterpart_of(transfer).is_of_activations(), transfer.is_of_activations());
    EXPECT_FALSE(transfer.is_compute());
  }
}

// An activation lives until the last pass that needs it: of a split backward, that of the weights.
TEST(Action, ActivationsLiveUntilTheBackwardPassOfTheWeights) {
  EXPECT_EQ(peak_activations({}), 0);
  EXPECT_EQ(
      peak_activations({{Kind::Forward, 0, 0}, {Kind::Backward, 0, 0}, {Kind::Forward, 1, 0}}), 1);
  EXPECT_EQ(
      peak_activations({{Kind::Forward, 0, 0}, {Kind::BackwardInput, 0, 0}, {Kind::Forward, 1, 0}}),
      2);
  EXPECT_EQ(peak_activations({{Kind::Forward, 0, 0},
                              {Kind::BackwardInput, 0, 0},
                              {Kind::BackwardWeight, 0, 0},
                              {Kind::Forward, 1, 0}}),
            1);
}

TEST(StagePlacement, InterleavedStagesGoRoundTheRanks) {
  const auto single = StagePlacement::interleaved(3, 1);
  EXPECT_EQ(single.ranks(), 3);
  EXPECT_EQ(single.stages(), 3);
  const auto two = StagePlacement::interleaved(3, 2);
  EXPECT_EQ(two.stages(), 6);
  EXPECT_EQ(two.rank_of(4), 1);
  EXPECT_THAT(two.stages_of(1), ElementsAre(1, 4));
  EXPECT_TRUE(two.is_cut_between(2, 3));
}

TEST(StagePlacement, TheVShapeTurnsOnTheLastRank) {
  const auto placement = StagePlacement::v_shape(3);
  EXPECT_EQ(placement, StagePlacement({0, 1, 2, 2, 1, 0}));
  EXPECT_THAT(placement.stages_of(0), ElementsAre(0, 5));
  EXPECT_THAT(placement.stages_of(2), ElementsAre(2, 3));
  EXPECT_TRUE(placement.is_cut_between(1, 2));
  EXPECT_FALSE(placement.is_cut_between(2, 3));
  EXPECT_FALSE(placement.is_cut_between(5, 6));
  EXPECT_FALSE(placement.is_cut_between(0, -1));
}

TEST(StagePlacement, RefusesRanksWithoutStages) {
  EXPECT_EQ(code_of([] { (void)StagePlacement::interleaved(0, 1); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { (void)StagePlacement::interleaved(2, 0); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { (void)StagePlacement::v_shape(-1); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { (void)StagePlacement(std::vector<int>{}); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { (void)StagePlacement({0, 2}); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([] { (void)StagePlacement({0, -1}); }), ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace trireme::parallel::pipeline
