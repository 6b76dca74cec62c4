// Goal:   all ranks get the same result of a step, no rank passes the commit alone, and the result
// of
//         a step that any rank prepared can be recalled. Votes between replicas arrive `slack`
//         steps later, and no rank waits for another that is at most that many steps behind.
// Method: ranks as threads that contribute different numbers, compared with sums by hand; a journal
//         in memory; ranks that begin only when the others have run all the steps that they can.

#include "trireme/parallel/step_commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <latch>
#include <limits>

#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/commit_journal.h"
#include "trireme/parallel/commit_result.h"
#include "trireme/parallel/traffic.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Runs `body` on ranks that are threads.
void on_ranks(int ranks, const std::function<void(const comm::Group&)>& body) {
  const auto groups = comm::connect_threads(ranks, {.timeout = 30s});
  testing::run_rank_threads(ranks, [&](int rank) { body(groups[static_cast<std::size_t>(rank)]); });
}

// What a rank recorded, and what all ranks of a host would find.
class NotedJournal final : public CommitJournal {
 public:
  void begin(std::int64_t step) override { notes.push_back("begin " + std::to_string(step)); }
  void prepare(const Prepared& prepared) override {
    notes.emplace_back("prepare");
    last = prepared;
  }
  void finish() override { notes.emplace_back("finish"); }
  std::vector<double> prepared(std::int64_t step) const override {
    return last.step == step ? last.figures : std::vector<double>{};
  }

  std::vector<std::string> notes;
  Prepared last;
};

TEST(StepCommit, AddsUpWhatRanksContribute) {
  on_ranks(3, [](const comm::Group& group) {
    const int rank = group.rank();
    StepCommit commit({.group = group, .flag_count = 2});
    for (const std::int64_t step : {0, 1}) {
      commit.begin(step);
      commit.contribute({.squared_norm = rank == 0 ? 16.0 : 0.0, .flags = {rank == 2, false}});
      const CommitResult all = commit.prepare(
          {.loss = 1.0 + rank, .reported = {0, 0, 0, 2}, .is_stop_wanted = rank == step});
      EXPECT_EQ(all.loss, 6);
      EXPECT_EQ(all.reported[3], 6);
      EXPECT_EQ(all.norm, 4) << "the first holder's alone";
      EXPECT_TRUE(all.is_finite);
      EXPECT_TRUE(all.is_stop_wanted);
      EXPECT_FALSE(all.is_change_wanted);
      EXPECT_THAT(all.flags, ElementsAre(true, false));
      EXPECT_TRUE(all.left_out.empty());
      commit.finish();
    }
    EXPECT_EQ(commit.total(rank), 3);
  });
}

TEST(StepCommit, OneRankWithoutAFiniteResultIsEnough) {
  on_ranks(2, [](const comm::Group& group) {
    StepCommit commit({.group = group});
    const auto is_finite = [&](double loss, double squared_norm) {
      commit.begin(0);
      commit.contribute({.squared_norm = squared_norm});
      return commit.prepare({.loss = loss}).is_finite;
    };
    const bool is_odd = group.rank() == 1;
    EXPECT_TRUE(is_finite(1, 2));
    EXPECT_FALSE(is_finite(is_odd ? kNaN : 1, 2));
    EXPECT_FALSE(is_finite(1, is_odd ? INFINITY : 2));
  });
}

TEST(StepCommit, AChangeWaitsUntilRanksMayChange) {
  on_ranks(2, [](const comm::Group& group) {
    StepCommit commit({.group = group});
    for (const bool can_change : {false, true}) {
      commit.begin(0);
      commit.contribute({.can_change = can_change && group.rank() == 0});
      EXPECT_EQ(commit.prepare({.is_change_wanted = group.rank() == 1}).is_change_wanted,
                can_change);
    }
  });
}

TEST(StepCommit, TellsWhichRanksAreLeftOut) {
  on_ranks(3, [](const comm::Group& group) {
    const bool is_left_out = group.rank() == 1;
    StepCommit commit({.group = group, .can_leave_out = true});
    commit.begin(0);
    commit.contribute({.is_left_out = is_left_out});
    const CommitResult all =
        commit.prepare({.loss = is_left_out ? 0.0 : 1.0, .terms = 1.0 + group.rank()});
    EXPECT_THAT(all.left_out, ElementsAre(1));
    EXPECT_EQ(all.share, 4.0 / 6);
  });
}

TEST(StepCommit, RecordsItsPhasesAndRecallsAPreparedStep) {
  NotedJournal journal;
  StepCommit commit({.journal = &journal, .has_figures_in_status = true});
  commit.begin(3);
  EXPECT_FALSE(commit.recall(3, {})) << "no rank has prepared it";
  commit.contribute({.squared_norm = 4});
  const CommitResult all = commit.prepare({.loss = 5});
  EXPECT_EQ(commit.status().phase, StepStatus::Phase::Prepared);
  EXPECT_EQ(commit.status().prepared, journal.last);
  EXPECT_EQ(journal.last.figures.size(), commit.figure_count());
  commit.finish();
  EXPECT_EQ(commit.status().phase, StepStatus::Phase::Finished);
  EXPECT_THAT(journal.notes, ElementsAre("begin 3", "prepare", "finish"));

  // Another rank, which was interrupted, and finds the figures in the journal or hears of them.
  for (const bool is_told : {false, true}) {
    NotedJournal own;
    if (!is_told) own.last = journal.last;
    StepCommit other({.journal = &own});
    other.begin(3);
    const std::vector<Prepared> told{is_told ? journal.last : Prepared{}};
    EXPECT_FALSE(other.recall(-1, told)) << "it needs none";
    const auto found = other.recall(3, told);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->loss, all.loss);
    EXPECT_EQ(found->norm, all.norm);
    EXPECT_EQ(other.status().phase, StepStatus::Phase::Prepared);
    EXPECT_THAT(own.notes, ElementsAre("begin 3", "prepare")) << "it may be the next to die";
  }
}

TEST(StepCommit, OneRanksJournalSufficesForAllHosts) {
  on_ranks(3, [](const comm::Group& group) {
    NotedJournal journal;
    StepCommit commit({.group = group, .journal = &journal, .recalls_from_all = true});
    commit.begin(7);
    if (group.rank() == 2) {
      journal.last = {.step = 7, .figures = std::vector<double>(commit.figure_count(), 1)};
    }
    // Rank 0 is new and needs no result.
    const auto found = commit.recall(group.rank() == 0 ? -1 : 7, {});
    EXPECT_EQ(found.has_value(), group.rank() != 0);
    EXPECT_EQ(found ? found->loss : 1, 1);
  });
}

// Two replicas of one rank each: losses are the replica's own, scaled to the global batch.
TEST(StepCommit, ReplicasOnlyVote) {
  on_ranks(2, [](const comm::Group& group) {
    const int rank = group.rank();
    StepCommit own({});
    StepCommit commit({.group = group, .flag_count = 1, .replica = &own});
    own.begin(0);
    commit.begin(0, /*weight=*/2);
    own.contribute({.squared_norm = 9});
    commit.contribute({.flags = {rank == 1}});
    const CommitResult all = commit.prepare({.loss = 1.0 + rank, .is_stop_wanted = rank == 1});
    EXPECT_EQ(all.loss, 2.0 * (1 + rank));
    EXPECT_EQ(all.norm, 6);
    EXPECT_TRUE(all.is_stop_wanted);
    EXPECT_THAT(all.flags, ElementsAre(true));
    EXPECT_EQ(commit.total(3), 6);
  });
}

TEST(StepCommit, VotesArriveSlackStepsLaterOnAllRanks) {
  for (const std::int64_t slack : {0, 1, 3}) {
    on_ranks(3, [&](const comm::Group& group) {
      StepCommit own({});
      StepCommit commit({.group = group, .replica = &own, .slack = slack});
      const auto is_stop_wanted = [&](bool is_mine) {
        return commit.prepare({.is_stop_wanted = is_mine}).is_stop_wanted;
      };
      for (int step = 0; step < 8; ++step) {
        EXPECT_EQ(is_stop_wanted(group.rank() == 1 && step == 2), step == 2 + slack);
      }
      is_stop_wanted(true);
      commit.drain();
      for (int step = 0; step < 8; ++step) {
        EXPECT_FALSE(is_stop_wanted(false)) << "drained votes are discarded";
      }
      commit.drain();
    });
  }
}

TEST(StepCommit, SlackLetsARankRunAheadOfAnother) {
  constexpr std::int64_t kSlack = 3;
  std::latch is_ahead(1);
  on_ranks(2, [&](const comm::Group& group) {
    StepCommit own({});
    StepCommit commit({.group = group, .replica = &own, .slack = kSlack});
    if (group.rank() == 1) is_ahead.wait();
    for (int step = 0; step < kSlack; ++step) {
      EXPECT_FALSE(commit.prepare({.is_stop_wanted = group.rank() == 1}).is_stop_wanted);
    }
    if (group.rank() == 0) is_ahead.count_down();
    EXPECT_TRUE(commit.prepare({}).is_stop_wanted);
    commit.drain();
  });
}

}  // namespace
}  // namespace trireme::parallel
