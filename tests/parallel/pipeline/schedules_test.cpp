// Goal:   every kind of pipeline schedule is without fault for every number of ranks, stages and
// micro-batches, and has the memory that its record says. Method: all shapes up to 16 ranks, 64
// micro-batches and 4 stages per rank through the checker; memory and orders from first principles.

#include "trireme/parallel/pipeline/schedules.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "trireme/parallel/pipeline/passes.h"
#include "trireme/parallel/pipeline/schedule_fault.h"
#include "trireme/testing/code_of.h"

namespace trireme::parallel::pipeline {
namespace {

using testing::code_of;
using Kind = Action::Kind;
using ::testing::HasSubstr;

class Schedules : public ::testing::TestWithParam<const char*> {
 protected:
  const ScheduleRecord& record() const { return schedule_named(GetParam()); }

  // All shapes up to these numbers that the kind supports.
  std::vector<PipelineShape> shapes(int ranks, int micro_batches) const {
    std::vector<int> stages{record().stages_per_rank};
    if (record().has_any_stages_per_rank) stages = {1, 2, 3, 4};
    std::vector<PipelineShape> all;
    for (const int v : stages) {
      for (int p = 1; p <= ranks; ++p) {
        for (int m = 1; m <= micro_batches; ++m) all.push_back({p, v, m});
      }
    }
    return all;
  }
};

std::string text_of(const PipelineShape& shape) {
  return std::to_string(shape.ranks) + " ranks, " + std::to_string(shape.stages_per_rank) +
         " stages per rank, " + std::to_string(shape.micro_batches) + " micro-batches";
}

// Even if no send is buffered.
TEST_P(Schedules, AreWithoutFaultForEveryShape) {
  for (const PipelineShape& shape : shapes(16, 64)) {
    const ScheduleLimits limits{.micro_batches = shape.micro_batches,
                                .activations_max = activations_max(record(), shape),
                                .unreceived_max = 0};
    const std::string fault =
        fault_in(make_schedule(record(), shape), record().placement(shape), limits);
    ASSERT_EQ(fault, "") << text_of(shape);
  }
}

// Otherwise a step could not give the same bits with every schedule.
TEST_P(Schedules, AddUpTheGradientsOfAStageInTheOrderOfMicroBatches) {
  for (const PipelineShape& shape : shapes(6, 20)) {
    for (const RankSchedule& actions : make_schedule(record(), shape)) {
      std::map<int, int> next;  // by stage
      for (const Action& action : actions) {
        if (action.kind != Kind::Backward && action.kind != Kind::BackwardWeight) continue;
        ASSERT_EQ(action.micro_batch, next[action.stage]++) << text_of(shape);
      }
    }
  }
}

TEST_P(Schedules, SplitBackwardOnlyIfTheRecordSaysSo) {
  for (const RankSchedule& actions : make_schedule(record(), shapes(3, 5).back())) {
    const auto is_part = [](const Action& action) { return action.kind == Kind::BackwardWeight; };
    EXPECT_EQ(std::any_of(actions.begin(), actions.end(), is_part), record().has_split_backward);
  }
}

// A bound that nothing reaches would let a schedule grow unnoticed.
TEST_P(Schedules, ReachTheMemoryOfTheirRecords) {
  for (const PipelineShape& shape : shapes(8, 40)) {
    // The V shape reaches its bound only once its pattern is complete.
    if (record().name == "zb_v" && shape.micro_batches < 2 * shape.ranks) continue;
    const PipelineSchedule schedule = make_schedule(record(), shape);
    const std::vector<int> most = activations_max(record(), shape);
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      ASSERT_EQ(peak_activations(schedule[rank]), most[rank]) << text_of(shape) << " " << rank;
    }
  }
}

TEST_P(Schedules, RefuseShapesThatCannotBe) {
  const int v = record().stages_per_rank;
  for (const PipelineShape& shape :
       {PipelineShape{0, v, 1}, PipelineShape{2, v, 0}, PipelineShape{2, 0, 4}}) {
    EXPECT_EQ(code_of([&] { check_shape(record(), shape); }), ErrorCode::InvalidInput)
        << text_of(shape);
    EXPECT_EQ(code_of([&] { make_schedule(record(), shape); }), ErrorCode::InvalidInput);
    EXPECT_EQ(code_of([&] { activations_max(record(), shape); }), ErrorCode::InvalidInput);
  }
  if (record().has_any_stages_per_rank) {
    check_shape(record(), {2, v + 1, 4});
  } else {
    EXPECT_EQ(code_of([&] { check_shape(record(), {2, v + 1, 4}); }), ErrorCode::InvalidInput);
  }
}

INSTANTIATE_TEST_SUITE_P(AllKinds, Schedules,
                         ::testing::Values("gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_v"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(ScheduleRecords, AreTheTestedOnes) {
  EXPECT_EQ(schedule_names(), "gpipe, 1f1b, interleaved_1f1b, zb_h1, zb_v");
  for (const ScheduleRecord& record : schedule_records()) {
    EXPECT_EQ(&schedule_named(record.name), &record);
    EXPECT_FALSE(record.help.empty());
  }
  try {
    (void)schedule_named("zb_h2");
    ADD_FAILURE() << "zb_h2 does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_THAT(error.what(), HasSubstr("\"zb_h2\" does not exist; use one of gpipe, 1f1b"));
  }
}

TEST(ScheduleRecords, OneFOneBHoldsOneMicroBatchForEachRankBehind) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (int micro_batches = 1; micro_batches <= 20; ++micro_batches) {
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(peak_activations(one_f_one_b_passes({ranks, 1, micro_batches}, rank)),
                  std::min(micro_batches, ranks - rank));
      }
    }
  }
}

// Narayanan et al. 2021, where the number of ranks divides that of micro-batches.
TEST(ScheduleRecords, InterleavedHoldsNoMoreGroupsThanStagesPerRank) {
  for (const int v : {2, 3, 4}) {
    for (int rank = 0; rank < 4; ++rank) {
      const int expected = (v - 1) * 4 + 2 * (3 - rank) + 1;
      EXPECT_EQ(peak_activations(interleaved_passes({4, v, 32}, rank)), expected);
      EXPECT_EQ(interleaved_activations({4, v, 32}, rank), expected);
      EXPECT_LE(interleaved_activations({4, v, 31}, rank), expected + v - 1) << "groups of 5 and 4";
    }
  }
}

TEST(ScheduleRecords, InterleavedWithOneStagePerRankIsOneFOneB) {
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(interleaved_passes({5, 1, 13}, rank), one_f_one_b_passes({5, 1, 13}, rank));
  }
}

}  // namespace
}  // namespace trireme::parallel::pipeline
