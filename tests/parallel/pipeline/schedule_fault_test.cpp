// Goal:   the checker detects every kind of fault in a pipeline schedule, and names the rank and
// the action. Method: schedules without fault, each with one mutation; small schedules by hand.

#include "trireme/parallel/pipeline/schedule_fault.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "trireme/parallel/pipeline/schedules.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Checked {
  PipelineSchedule schedule;
  StagePlacement placement;
  ScheduleLimits limits;

  static Checked of(const char* name, int ranks, int micro_batches) {
    const ScheduleRecord& record = schedule_named(name);
    const PipelineShape shape{ranks, record.stages_per_rank, micro_batches};
    return {make_schedule(record, shape),
            record.placement(shape),
            {.micro_batches = micro_batches, .activations_max = activations_max(record, shape)}};
  }

  std::string fault() const { return fault_in(schedule, placement, limits); }
  std::size_t find(std::size_t rank, const Action& action) const {
    const auto& actions = schedule.at(rank);
    const auto found = std::find(actions.begin(), actions.end(), action);
    EXPECT_NE(found, actions.end()) << action.to_text();
    return static_cast<std::size_t>(found - actions.begin());
  }
  void swap(std::size_t rank, const Action& one, const Action& other) {
    std::swap(schedule[rank].at(find(rank, one)), schedule[rank].at(find(rank, other)));
  }
  void move_to_front(std::size_t rank, const Action& action) {
    const auto begin = schedule[rank].begin();
    const auto at = begin + static_cast<std::ptrdiff_t>(find(rank, action));
    std::rotate(begin, at, at + 1);
  }
};

class EveryKind : public ::testing::TestWithParam<const char*> {
 protected:
  // Applies a mutation to each action in turn.
  template <class Mutation>
  void expect_fault_after(const Mutation& mutate) const {
    const Checked whole = Checked::of(GetParam(), 3, 4);
    ASSERT_EQ(whole.fault(), "");
    for (std::size_t rank = 0; rank < whole.schedule.size(); ++rank) {
      for (std::size_t i = 0; i < whole.schedule[rank].size(); ++i) {
        Checked mutated = whole;
        mutate(mutated, rank, i);
        EXPECT_THAT(mutated.fault(), HasSubstr("rank "))
            << "rank " << rank << ": " << whole.schedule[rank][i].to_text();
      }
    }
  }
};

TEST_P(EveryKind, DetectsEveryRemovedAction) {
  expect_fault_after([](Checked& checked, std::size_t rank, std::size_t i) {
    auto& actions = checked.schedule[rank];
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(i));
  });
}

TEST_P(EveryKind, DetectsEveryRepeatedAction) {
  expect_fault_after([](Checked& checked, std::size_t rank, std::size_t i) {
    checked.schedule[rank].push_back(Action(checked.schedule[rank][i]));
  });
}

TEST_P(EveryKind, DetectsEveryActionOnAnotherRank) {
  expect_fault_after([](Checked& checked, std::size_t rank, std::size_t i) {
    auto& actions = checked.schedule[rank];
    checked.schedule[(rank + 1) % 3].push_back(actions[i]);
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(i));
  });
}

TEST_P(EveryKind, DetectsEveryChangedMicroBatch) {
  expect_fault_after([](Checked& checked, std::size_t rank, std::size_t i) {
    int& micro_batch = checked.schedule[rank][i].micro_batch;
    micro_batch = i % 2 == 0 ? (micro_batch + 1) % 4 : 4;
  });
}

INSTANTIATE_TEST_SUITE_P(AllKinds, EveryKind,
                         ::testing::Values("gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_v"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(ScheduleFault, NamesTheRankAndTheAction) {
  Checked checked = Checked::of("1f1b", 2, 2);
  std::swap(checked.schedule[0], checked.schedule[1]);
  EXPECT_EQ(checked.fault(),
            "rank 0: action 0 (receive of activations of micro-batch 0 for stage 1): stage 1 is on "
            "rank 1");
  checked.schedule.pop_back();
  EXPECT_EQ(checked.fault(), "the schedule has 1 ranks, and the stages are on 2");
  checked.limits.micro_batches = 0;
  EXPECT_EQ(checked.fault(), "a step without micro-batches has no schedule");
}

TEST(ScheduleFault, DetectsPassesInAnImpossibleOrder) {
  Checked backward_first = Checked::of("1f1b", 2, 2);
  backward_first.swap(1, {Kind::Forward, 1, 1}, {Kind::Backward, 1, 1});
  EXPECT_THAT(backward_first.fault(),
              AllOf(HasSubstr("rank 1"), HasSubstr("(backward of micro-batch 1 on stage 1): comes "
                                                   "before the forward of micro-batch 1")));
  Checked weight_first = Checked::of("zb_h1", 2, 2);
  weight_first.swap(1, {Kind::BackwardInput, 1, 1}, {Kind::BackwardWeight, 1, 1});
  EXPECT_THAT(weight_first.fault(), HasSubstr("(backward for the weights of micro-batch 1 on stage "
                                              "1): comes before the backward for the input"));
  Checked twice = Checked::of("zb_h1", 2, 2);
  twice.schedule[1].push_back({Kind::Backward, 1, 1});
  EXPECT_THAT(twice.fault(), HasSubstr("a part of this backward pass is run as well"));
}

TEST(ScheduleFault, DetectsTransfersOnTheWrongSideOfTheirPasses) {
  Checked early_send = Checked::of("1f1b", 2, 2);
  early_send.swap(0, {Kind::Forward, 0, 0}, {Kind::SendActivations, 0, 0});
  EXPECT_THAT(early_send.fault(), HasSubstr("(send of activations of micro-batch 0 from stage 0): "
                                            "comes before the forward"));
  Checked late_receive = Checked::of("1f1b", 2, 2);
  late_receive.swap(1, {Kind::ReceiveActivations, 0, 1}, {Kind::Forward, 0, 1});
  EXPECT_THAT(late_receive.fault(), HasSubstr("comes before the receive of activations"));
}

TEST(ScheduleFault, DetectsTransfersThatNoRankNeeds) {
  Checked within = Checked::of("zb_v", 2, 2);
  within.schedule[1].push_back({Kind::SendActivations, 0, 1});
  EXPECT_THAT(within.fault(), HasSubstr("stage 2 is on the same rank"));
  Checked beyond = Checked::of("1f1b", 2, 2);
  beyond.schedule[1].push_back({Kind::SendActivations, 0, 1});
  EXPECT_THAT(beyond.fault(), HasSubstr("there is no stage 2"));
  beyond.schedule[1].back().stage = 2;
  EXPECT_THAT(beyond.fault(), HasSubstr("there are 2 stages"));
}

TEST(ScheduleFault, DetectsReceivesInAnotherOrderThanTheirSends) {
  Checked checked = Checked::of("gpipe", 2, 3);
  checked.move_to_front(1, {Kind::ReceiveActivations, 2, 1});
  EXPECT_EQ(checked.fault(),
            "rank 0: action 1 (send of activations of micro-batch 0 from stage 0): rank 1 first "
            "receives, in its action 0, the send of activations of micro-batch 2 from stage 0");
}

TEST(ScheduleFault, DetectsActivationsAboveTheLimit) {
  Checked checked = Checked::of("gpipe", 2, 3);
  checked.limits.activations_max = {3, 2};
  EXPECT_THAT(checked.fault(),
              AllOf(HasSubstr("rank 1: action"),
                    HasSubstr("(forward of micro-batch 2 on stage 1): 3 activations are alive; the "
                              "limit is 2")));
  checked.limits.activations_max = {};
  EXPECT_EQ(checked.fault(), "");
  checked.limits.activations_max = {3};
  EXPECT_EQ(checked.fault(), "the memory of 1 ranks is limited, of 2");
}

// Activations and gradients cross each other between the two ranks. Each one sends before it posts
// its receive.
TEST(ScheduleFault, DetectsTwoRanksThatBothSendFirst) {
  using enum Action::Kind;
  Checked checked{{{{Forward, 0, 0},
                    {SendActivations, 0, 0},
                    {ReceiveGradients, 0, 0},
                    {Forward, 1, 0},
                    {SendActivations, 1, 0},
                    {Backward, 0, 0},
                    {ReceiveGradients, 1, 0},
                    {Backward, 1, 0}},
                   {{ReceiveActivations, 0, 1},
                    {Forward, 0, 1},
                    {Backward, 0, 1},
                    {SendGradients, 0, 1},
                    {ReceiveActivations, 1, 1},
                    {Forward, 1, 1},
                    {Backward, 1, 1},
                    {SendGradients, 1, 1}}},
                  StagePlacement::interleaved(2, 1),
                  {.micro_batches = 2}};
  EXPECT_EQ(checked.fault(), "");
  // The receive of the gradients moves behind the send of the next activations.
  checked.swap(0, {ReceiveGradients, 0, 0}, {Forward, 1, 0});
  checked.swap(0, {ReceiveGradients, 0, 0}, {SendActivations, 1, 0});
  EXPECT_EQ(checked.fault(),
            "the ranks wait for each other: rank 0 waits forever in action 3 (send of activations "
            "of micro-batch 1 from stage 0), rank 1 waits forever in action 3 (send of gradients "
            "of micro-batch 0 from stage 1)");
  checked.limits.unreceived_max = 1;
  EXPECT_EQ(checked.fault(), "");
}

// Each rank waits for a value that the other one would produce later: no buffer helps.
TEST(ScheduleFault, DetectsRanksThatWaitForEachOthersPasses) {
  using enum Action::Kind;
  Checked checked{{{{ReceiveGradients, 0, 0},
                    {ReceiveGradients, 1, 0},
                    {Forward, 0, 0},
                    {SendActivations, 0, 0},
                    {Backward, 0, 0},
                    {Forward, 1, 0},
                    {SendActivations, 1, 0},
                    {Backward, 1, 0}},
                   {{ReceiveActivations, 0, 1},
                    {ReceiveActivations, 1, 1},
                    {Forward, 0, 1},
                    {Forward, 1, 1},
                    {Backward, 0, 1},
                    {SendGradients, 0, 1},
                    {Backward, 1, 1},
                    {SendGradients, 1, 1}}},
                  StagePlacement::interleaved(2, 1),
                  {.micro_batches = 2, .unreceived_max = 100}};
  EXPECT_THAT(checked.fault(),
              AllOf(HasSubstr("rank 0 waits forever in action 4 (backward of micro-batch 0"),
                    HasSubstr("rank 1 waits forever in action 3 (forward of micro-batch 1")));
}

}  // namespace
}  // namespace trireme::parallel::pipeline
