// Goal:   the simulated time of a step is what follows from its passes: the bubbles of the
// literature in closed form, and the waits for transfers. Method: equal times, where the forms are
// exact; small schedules whose times are added up by hand.

#include "trireme/parallel/pipeline/simulation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "trireme/parallel/pipeline/schedule_run.h"
#include "trireme/parallel/pipeline/schedules.h"
#include "trireme/testing/code_of.h"

namespace trireme::parallel::pipeline {
namespace {

using testing::code_of;
using Kind = Action::Kind;
using ::testing::DoubleEq;
using ::testing::ElementsAre;

// A rank takes 1 for forward and for each part of backward, however many stages it has.
SimulatedStep simulate_kind(const char* name, const PipelineShape& shape, double transfer = 0) {
  const ScheduleRecord& record = schedule_named(name);
  const auto placement = record.placement(shape);
  const double part = 1.0 / shape.stages_per_rank;
  PipelineTimes times{.transfer = transfer};
  times.stages.assign(
      static_cast<std::size_t>(placement.stages()),
      {.forward = part, .backward = 2 * part, .backward_input = part, .backward_weight = part});
  return simulate(make_schedule(record, shape), placement, times, 0);
}

TEST(Simulation, TheBubblesOfGpipeAndOneFOneBHaveTheirClosedForm) {
  for (const int p : {1, 2, 3, 8, 16}) {
    for (const int m : {1, 2, 7, 16, 61}) {
      const double expected = (p - 1.0) / (m + p - 1);
      EXPECT_NEAR(simulate_kind("gpipe", {p, 1, m}).bubble, expected, 1e-9) << p << " " << m;
      EXPECT_NEAR(simulate_kind("1f1b", {p, 1, m}).bubble, expected, 1e-9) << p << " " << m;
    }
  }
}

// For every number of micro-batches from that of the ranks on, not only for its multiples.
TEST(Simulation, InterleavingDividesTheBubbleByTheStagesPerRank) {
  for (const int p : {1, 2, 3, 8}) {
    for (const int v : {1, 2, 3, 4}) {
      for (const int m : {p, p + 1, 2 * p - 1, 3 * p, 5 * p + 2, 61}) {
        const double expected = (p - 1.0) / (v * m + p - 1);
        EXPECT_NEAR(simulate_kind("interleaved_1f1b", {p, v, m}).bubble, expected, 1e-9)
            << p << " " << v << " " << m;
      }
    }
  }
}

// Qi et al., table 2: with equal times 1F1B waits 3 (P - 1), ZB-H1 a third of it. In ZB-V a rank
// waits only until it may begin: half a forward pass for each rank before it.
TEST(Simulation, ZeroBubbleSchedulesWaitLess) {
  for (const int p : {2, 3, 8, 16}) {
    for (const int m : {2 * p, 4 * p, 4 * p + 3}) {
      EXPECT_NEAR(simulate_kind("1f1b", {p, 1, m}).makespan, 3 * m + 3 * (p - 1), 1e-9);
      EXPECT_NEAR(simulate_kind("zb_h1", {p, 1, m}).makespan, 3 * m + (p - 1), 1e-9);
      EXPECT_NEAR(simulate_kind("zb_v", {p, 2, m}).makespan, 3 * m + 0.5 * (p - 1), 1e-9);
    }
  }
  EXPECT_LT(simulate_kind("zb_h1", {4, 1, 1}).bubble, simulate_kind("1f1b", {4, 1, 1}).bubble);
}

TEST(Simulation, BusyTimeIsThatOfThePassesOfARank) {
  const ScheduleRecord& record = schedule_named("1f1b");
  const PipelineShape shape{2, 1, 3};
  const PipelineTimes times{
      .stages = {{.forward = 1, .backward = 2}, {.forward = 2, .backward = 5}}};
  const SimulatedStep step = simulate(make_schedule(record, shape), record.placement(shape), times);
  EXPECT_THAT(step.busy, ElementsAre(DoubleEq(9), DoubleEq(21)));
  EXPECT_DOUBLE_EQ(step.makespan, 1 + 3 * 7 + 2) << "the second rank never waits";
  EXPECT_DOUBLE_EQ(step.bubble, 1 - 15.0 / 24);
}

TEST(Simulation, AStepWithoutTimeHasNoBubble) {
  const StageTimes none{.forward = 0, .backward = 0, .backward_input = 0, .backward_weight = 0};
  const ScheduleRecord& record = schedule_named("1f1b");
  const SimulatedStep step = simulate(make_schedule(record, {2, 1, 3}), record.placement({2, 1, 3}),
                                      {.stages = {none, none}});
  EXPECT_EQ(step.makespan, 0);
  EXPECT_EQ(step.bubble, 0);
}

TEST(Simulation, ATransferDelaysWhatWaitsForIt) {
  EXPECT_DOUBLE_EQ(simulate_kind("1f1b", {4, 1, 1}, 0.25).makespan, 12 + 6 * 0.25);
  EXPECT_DOUBLE_EQ(simulate_kind("zb_v", {1, 2, 4}, 0.25).makespan, 12) << "nothing is sent";
}

// Once the pipeline is full, all transfers overlap with passes: what remains are those of the first
// micro-batch forwards and of the last one backwards.
TEST(Simulation, InterleavedPassesHideTheirTransfers) {
  for (const int p : {2, 4, 8}) {
    for (const int v : {2, 4}) {
      const PipelineShape shape{p, v, 4 * p};
      const double without = simulate_kind("interleaved_1f1b", shape).makespan;
      EXPECT_NEAR(simulate_kind("interleaved_1f1b", shape, 0.01).makespan,
                  without + 2 * (p * v - 1) * 0.01, 1e-9)
          << p << " " << v;
    }
  }
}

// Stage 1 is slow, so that each transfer ends during the pass before the one that uses it, if its
// receive is posted by then.
TEST(Simulation, TransfersOverlapOnlyWithReceivesThatArePostedAhead) {
  const auto placement = StagePlacement::interleaved(2, 1);
  const PipelineTimes times{
      .stages = {{.forward = 1, .backward = 1}, {.forward = 4, .backward = 4}}, .transfer = 3};
  const PipelineSchedule ahead = make_schedule(schedule_named("gpipe"), {2, 1, 3});
  PipelineSchedule late = ahead;
  late[1].clear();
  for (int i = 0; i < 3; ++i) {
    late[1].push_back({Kind::ReceiveActivations, i, 1});
    late[1].push_back({Kind::Forward, i, 1});
  }
  for (int i = 0; i < 3; ++i) {
    late[1].push_back({Kind::Backward, i, 1});
    late[1].push_back({Kind::SendGradients, i, 1});
  }
  EXPECT_DOUBLE_EQ(simulate(ahead, placement, times).makespan, 1 + 3 + 6 * 4 + 3 + 1);
  EXPECT_DOUBLE_EQ(simulate(late, placement, times).makespan, 1 + 3 + 6 * 4 + 3 + 1 + 2 * 3);
}

// The sender may be only so far ahead as sends are buffered.
TEST(Simulation, ASendWaitsIfTooManyHaveNoReceive) {
  const auto placement = StagePlacement::interleaved(2, 1);
  const PipelineTimes times{
      .stages = {{.forward = 1, .backward = 1}, {.forward = 5, .backward = 1}}};
  const PipelineSchedule schedule = make_schedule(schedule_named("gpipe"), {2, 1, 6});
  const auto end_of_forward = [&](int unreceived_max) {
    const ScheduleRun run = run_schedule(schedule, placement, times, unreceived_max);
    const auto last =
        std::find(schedule[0].begin(), schedule[0].end(), Action{Kind::SendActivations, 5, 0});
    return run.ranks[0].ends[static_cast<std::size_t>(last - schedule[0].begin())];
  };
  EXPECT_DOUBLE_EQ(end_of_forward(kUnlimited), 6);
  EXPECT_DOUBLE_EQ(end_of_forward(0), 1 + 4 * 5) << "its receive is posted before the fifth pass";
  EXPECT_DOUBLE_EQ(end_of_forward(2), 1 + 2 * 5);
}

TEST(Simulation, RefusesADeadlockAndTimesOfOtherStages) {
  const auto placement = StagePlacement::interleaved(2, 1);
  PipelineSchedule schedule = make_schedule(schedule_named("1f1b"), {2, 1, 2});
  EXPECT_EQ(code_of([&] { simulate(schedule, placement, {.stages = {{}}}); }), ErrorCode::Misuse);
  std::swap(schedule[0].front(), schedule[0].back());
  EXPECT_EQ(code_of([&] { simulate(schedule, placement, {}); }), ErrorCode::Misuse);
}

}  // namespace
}  // namespace trireme::parallel::pipeline
