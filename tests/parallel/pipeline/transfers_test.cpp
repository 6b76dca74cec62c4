// Goal:   transfers are placed so that they overlap with computation, in one order on both sides,
// and nothing is sent within a rank. Method: small schedules by hand; properties of all kinds.

#include "trireme/parallel/pipeline/transfers.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "trireme/parallel/pipeline/schedule_fault.h"
#include "trireme/parallel/pipeline/schedule_run.h"
#include "trireme/parallel/pipeline/schedules.h"
#include "trireme/testing/code_of.h"

namespace trireme::parallel::pipeline {
namespace {

using testing::code_of;
using Kind = Action::Kind;

constexpr Action forward(int micro_batch, int stage) {
  return {Kind::Forward, micro_batch, stage};
}
constexpr Action backward(int micro_batch, int stage) {
  return {Kind::Backward, micro_batch, stage};
}

std::string text_of(const RankSchedule& actions) {
  std::string text;
  for (const Action& action : actions) text += action.to_text() + "\n";
  return text;
}

// In the warm-up of rank 1, both activations are sent before its first pass has ended.
TEST(Transfers, ReceivesArePostedOnePassAhead) {
  using enum Action::Kind;
  const PipelineSchedule passes{
      {forward(0, 0), forward(1, 0), backward(0, 0), forward(2, 0), backward(1, 0), backward(2, 0)},
      {forward(0, 1), backward(0, 1), forward(1, 1), backward(1, 1), forward(2, 1), backward(2, 1)},
  };
  const RankSchedule first{
      forward(0, 0),           {SendActivations, 0, 0},  {ReceiveGradients, 0, 0}, forward(1, 0),
      {SendActivations, 1, 0}, backward(0, 0),           {ReceiveGradients, 1, 0}, forward(2, 0),
      {SendActivations, 2, 0}, {ReceiveGradients, 2, 0}, backward(1, 0),           backward(2, 0)};
  const RankSchedule last{{ReceiveActivations, 0, 1},
                          {ReceiveActivations, 1, 1},
                          forward(0, 1),
                          backward(0, 1),
                          {SendGradients, 0, 1},
                          forward(1, 1),
                          {ReceiveActivations, 2, 1},
                          backward(1, 1),
                          {SendGradients, 1, 1},
                          forward(2, 1),
                          backward(2, 1),
                          {SendGradients, 2, 1}};
  const PipelineSchedule schedule = with_transfers(passes, StagePlacement::interleaved(2, 1));
  EXPECT_EQ(text_of(schedule[0]), text_of(first));
  EXPECT_EQ(text_of(schedule[1]), text_of(last));
}

TEST(Transfers, NoReceiveIsLaterThanOnePassAhead) {
  for (const ScheduleRecord& record : schedule_records()) {
    const PipelineShape shape{4, record.stages_per_rank, 11};
    for (const RankSchedule& actions : make_schedule(record, shape)) {
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto receive = receive_before(actions[i], record.placement(shape));
        if (!receive) continue;
        const auto at = std::find(actions.begin(), actions.end(), *receive);
        const auto between =
            std::count_if(at, actions.begin() + static_cast<std::ptrdiff_t>(i),
                          [](const Action& action) { return action.is_compute(); });
        const bool is_first = std::none_of(
            actions.begin(), at, [](const Action& action) { return action.is_compute(); });
        EXPECT_TRUE(is_first || between >= 1) << record.name << ": " << receive->to_text();
      }
    }
  }
}

// Rank 1 uses micro-batch 2 before micro-batch 1, and is idle while both are sent. A backend that
// matches transfers by their order would mix them up.
TEST(Transfers, ReceivesFollowTheOrderOfTheSends) {
  const PipelineSchedule passes{
      {forward(0, 0), backward(0, 0), forward(1, 0), forward(2, 0), backward(2, 0), backward(1, 0)},
      {forward(0, 1), backward(0, 1), forward(2, 1), backward(2, 1), forward(1, 1), backward(1, 1)},
  };
  const auto placement = StagePlacement::interleaved(2, 1);
  const PipelineSchedule schedule = with_transfers(passes, placement);
  EXPECT_EQ(schedule[1][2], (Action{Kind::ReceiveActivations, 1, 1}));
  EXPECT_EQ(schedule[1][3], (Action{Kind::ReceiveActivations, 2, 1}));
  EXPECT_EQ(fault_in(schedule, placement, {.micro_batches = 3}), "");
}

// In the interleaved and V-shaped ones, some values are used long after they have been sent. If
// their receives were posted one pass ahead, their sends would wait, and some of them forever.
TEST(Transfers, NoSendWaitsForItsReceiveIfPassesTakeEquallyLong) {
  for (const ScheduleRecord& record : schedule_records()) {
    for (const int micro_batches : {1, 4, 7, 12}) {
      const PipelineShape shape{4, record.stages_per_rank, micro_batches};
      const auto placement = record.placement(shape);
      const PipelineSchedule schedule = make_schedule(record, shape);
      const ScheduleRun buffered = run_schedule(schedule, placement, {}, kUnlimited);
      const ScheduleRun waiting = run_schedule(schedule, placement, {}, 0);
      for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        EXPECT_EQ(buffered.ranks[rank].ends, waiting.ranks[rank].ends)
            << record.name << " " << micro_batches << " " << rank;
      }
    }
  }
}

TEST(Transfers, NothingIsSentWithinARank) {
  const auto placement = StagePlacement::v_shape(3);
  EXPECT_FALSE(send_after(forward(0, 2), placement));
  EXPECT_FALSE(receive_before(forward(0, 3), placement));
  EXPECT_FALSE(send_after(backward(0, 3), placement));
  EXPECT_FALSE(receive_before(backward(0, 2), placement));
  EXPECT_EQ(send_after(forward(0, 1), placement), (Action{Kind::SendActivations, 0, 1}));
  EXPECT_EQ(receive_before(forward(0, 4), placement), (Action{Kind::ReceiveActivations, 0, 4}));
  EXPECT_FALSE(send_after({Kind::BackwardWeight, 0, 1}, placement));
  EXPECT_FALSE(send_after(forward(0, 5), placement)) << "the last stage computes the loss";
  for (const RankSchedule& actions : make_schedule(schedule_named("zb_v"), {1, 2, 6})) {
    EXPECT_TRUE(std::all_of(actions.begin(), actions.end(),
                            [](const Action& action) { return action.is_compute(); }));
  }
}

TEST(Transfers, RefuseWhatCannotRun) {
  const auto placement = StagePlacement::interleaved(2, 1);
  const PipelineSchedule whole{{forward(0, 0), backward(0, 0)}, {forward(0, 1), backward(0, 1)}};
  EXPECT_EQ(code_of([&] { with_transfers(with_transfers(whole, placement), placement); }),
            ErrorCode::Misuse);
  EXPECT_EQ(code_of([&] { with_transfers({{forward(0, 0)}, {}}, placement); }), ErrorCode::Misuse)
      << "nothing uses what is sent";
  EXPECT_EQ(code_of([&] { with_transfers({{}, {forward(0, 1)}}, placement); }), ErrorCode::Misuse)
      << "nothing produces what is used";
  EXPECT_EQ(code_of([&] {
              with_transfers({{backward(0, 0), forward(0, 0)}, {forward(0, 1), backward(0, 1)}},
                             placement);
            }),
            ErrorCode::Misuse)
      << "backward waits for a forward pass behind it";
}

}  // namespace
}  // namespace trireme::parallel::pipeline
