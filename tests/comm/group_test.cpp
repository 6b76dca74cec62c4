// Goal:   a Group rejects calls that violate its contract before any data moves, and a group of one
//         rank completes every operation at once.
// Method: groups of one rank, and of two threads of which one only misuses the group. The
//         conformance suite checks the results of collectives.

#include "trireme/comm/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

ErrorCode code_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::NotFound;  // no error
}

TEST(Group, OfOneRankCompletesEverythingAtOnce) {
  const Group solo = Group::solo();
  EXPECT_EQ(solo.rank(), 0);
  EXPECT_EQ(solo.size(), 1);
  EXPECT_EQ(solo.arena(), nullptr);
  EXPECT_EQ(solo.capabilities().name, "solo");
  std::vector<float> data{1, 2, 3}, out(3);
  const std::vector<std::size_t> counts{3};
  EXPECT_TRUE(solo.all_reduce(span(data), ReduceOp::Mean).is_done());
  solo.reduce(span(data), ReduceOp::Sum, 0).wait();
  solo.broadcast(span(data), 0).wait();
  EXPECT_EQ(data, (std::vector<float>{1, 2, 3}));
  const std::function<Work()> copies[] = {
      [&] { return solo.reduce_scatter(span(out), span(data), ReduceOp::Sum); },
      [&] { return solo.reduce_scatter(span(out), span(data), counts, ReduceOp::Sum); },
      [&] { return solo.all_gather(span(out), span(data)); },
      [&] { return solo.all_gather(span(out), span(data), counts); },
      [&] { return solo.gather(span(out), span(data), 0); },
      [&] { return solo.scatter(span(out), span(data), 0); },
      [&] { return solo.all_to_all(span(out), span(data)); }};
  for (const auto& copy : copies) {
    out.assign(3, 0);
    EXPECT_TRUE(copy().is_done());
    EXPECT_EQ(out, data);
  }
  solo.barrier().wait();
  EXPECT_EQ(solo.subgroup(std::vector<int>{0}).size(), 1);
}

TEST(Group, CopiesShareTheGroup) {
  const auto groups = connect_threads(2);
  const Group copy = groups[0];
  copy.abort(Error(ErrorCode::Aborted, "enough"));
  ASSERT_TRUE(groups[0].error().has_value());
  EXPECT_EQ(groups[0].error()->code(), ErrorCode::Aborted);
  EXPECT_FALSE(groups[1].error().has_value()) << "an abort affects only this rank";
}

TEST(Group, SubGroupsEndWithIt) {
  const auto groups = connect_threads(2);
  groups[0].duplicate().abort(Error(ErrorCode::Aborted, "abort of the duplicate"));
  EXPECT_FALSE(groups[0].error().has_value());
  const Group direct = groups[1].duplicate();
  const Group below = direct.duplicate();
  groups[1].abort(Error(ErrorCode::Aborted, "enough"));
  EXPECT_TRUE(direct.error().has_value() && below.error().has_value());
  EXPECT_TRUE(groups[1].duplicate().error().has_value()) << "made later";
}

class Misused : public ::testing::Test {
 protected:
  std::vector<Group> groups_ = connect_threads(2, {.timeout = 10s});
  const Group& group_ = groups_[0];
  std::vector<float> two_ = std::vector<float>(2), four_ = std::vector<float>(4),
                     three_ = std::vector<float>(3);
  std::vector<std::int32_t> ints_ = std::vector<std::int32_t>(4);

  static void expect_misuse(const std::function<Work()>& call, const char* what) {
    EXPECT_EQ(code_of([&] { call().wait(); }), ErrorCode::Misuse) << what;
  }
};

TEST_F(Misused, CountsMustMatch) {
  const std::vector<std::size_t> one{4}, uneven{1, 3};
  expect_misuse([&] { return group_.reduce_scatter(span(three_), span(four_), ReduceOp::Sum); },
                "reduce_scatter");
  expect_misuse([&] { return group_.all_gather(span(three_), span(two_)); }, "all_gather");
  expect_misuse([&] { return group_.gather(span(three_), span(two_), 0); }, "gather");
  expect_misuse([&] { return group_.scatter(span(two_), span(three_), 0); }, "scatter");
  expect_misuse([&] { return group_.all_to_all(span(three_), span(three_)); }, "all_to_all");
  expect_misuse([&] { return group_.all_gather(span(four_), span(four_), one); }, "one count");
  expect_misuse([&] { return group_.all_gather(span(four_), span(two_), uneven); }, "my count");
  expect_misuse([&] { return group_.all_gather(span(three_), span(two_).part(0, 1), uneven); },
                "the sum of counts");
}

TEST_F(Misused, TypesMustMatch) {
  expect_misuse([&] { return group_.all_gather(span(ints_), span(two_)); }, "all_gather");
  expect_misuse([&] { return group_.reduce_scatter(span(two_), span(ints_), ReduceOp::Sum); },
                "reduce_scatter");
  expect_misuse([&] { return group_.all_to_all(span(four_), span(ints_)); }, "all_to_all");
  const std::vector<Span> both{span(two_), span(ints_)};
  expect_misuse([&] { return group_.all_reduce(both, ReduceOp::Sum); }, "many");
}

TEST_F(Misused, RanksMustExist) {
  for (const int rank : {-1, 2}) {
    expect_misuse([&] { return group_.broadcast(span(two_), rank); }, "broadcast");
    expect_misuse([&] { return group_.reduce(span(two_), ReduceOp::Sum, rank); }, "reduce");
    expect_misuse([&] { return group_.gather(span(four_), span(two_), rank); }, "gather");
    expect_misuse([&] { return group_.scatter(span(two_), span(four_), rank); }, "scatter");
    expect_misuse([&] { return group_.send(span(two_), rank, 0); }, "send");
    expect_misuse([&] { return group_.receive(span(two_), rank, 0); }, "receive");
  }
  expect_misuse([&] { return group_.send(span(two_), 0, 0); }, "to oneself");
  expect_misuse([&] { return group_.receive(span(two_), 0, 0); }, "from oneself");
}

TEST_F(Misused, OnlySumsAreOrdered) {
  const std::vector<LogicalShare> mine{{0, const_span(two_)}};
  const std::vector<int> owners{0, 1};
  expect_misuse([&] { return group_.ordered_sum(span(two_), mine, owners, ReduceOp::Max); },
                "ordered max");
  expect_misuse([&] { return group_.ordered_sum(span(two_), {}, owners); }, "a missing share");
}

TEST_F(Misused, SubGroupsContainEachMemberOnce) {
  for (const std::vector<int>& ranks : {std::vector<int>{1}, {0, 2}, {-1, 0}, {0, 1, 0}, {}}) {
    EXPECT_EQ(code_of([&] { (void)group_.subgroup(ranks); }), ErrorCode::Misuse) << ranks.size();
  }
}

TEST_F(Misused, MisuseDoesNotEndTheGroup) {
  expect_misuse([&] { return group_.broadcast(span(two_), 9); }, "broadcast");
  EXPECT_FALSE(group_.error().has_value());
  Work other = groups_[1].all_reduce(span(three_), ReduceOp::Sum);
  std::vector<float> mine(3, 2.0f);
  group_.all_reduce(span(mine), ReduceOp::Sum).wait();
  other.wait();
  EXPECT_EQ(mine[2], 2.0f);
}

TEST(Group, OperationsOnEmptySpansCompleteAtOnce) {
  const auto groups = connect_threads(2, {.timeout = 10s});
  const Group& group = groups[0];  // the other rank never enters
  const Span none;
  const std::vector<std::size_t> zeros{0, 0};
  group.all_reduce(none, ReduceOp::Sum).wait();
  group.all_reduce(std::vector<Span>{none, none}, ReduceOp::Sum).wait();
  group.reduce(none, ReduceOp::Sum, 1).wait();
  group.reduce_scatter(none, none, ReduceOp::Sum).wait();
  group.all_gather(none, none).wait();
  group.all_gather(none, none, zeros).wait();
  group.gather(none, none, 0).wait();
  group.scatter(none, none, 0).wait();
  group.broadcast(none, 1).wait();
  group.all_to_all(none, none).wait();
  group.send(none, 1, 0).wait();
  group.receive(none, 1, 0).wait();
  EXPECT_FALSE(group.error().has_value());
}

TEST(Group, SubGroupsOfOneKeepTheEpoch) {
  const auto groups = connect_threads(2, {.epoch = 9});
  const Group alone = groups[1].subgroup(std::vector<int>{1});
  EXPECT_EQ(alone.epoch(), 9u);
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.rank(), 0);
}

TEST(Guarded, RethrowsTheExceptionAndEndsTheGroup) {
  const auto groups = connect_threads(2, {.timeout = 10s});
  EXPECT_THROW(guarded(groups[0], [] { throw std::runtime_error("no data"); }), std::runtime_error);
  EXPECT_TRUE(groups[0].error().has_value());
  EXPECT_EQ(code_of([&] { groups[1].barrier().wait(); }), ErrorCode::RemoteFailure);
  bool has_run = false;
  guarded(Group::solo(), [&] { has_run = true; });
  EXPECT_TRUE(has_run);
}

TEST(Group, MembersOfASubGroupFindEachOthersSpansByName) {
  const auto groups = connect_threads(3, {.timeout = 30s});
  testing::run_rank_threads(3, [&](int rank) {
    if (rank == 1) return;
    const Group& whole = groups[static_cast<std::size_t>(rank)];
    const std::vector<int> ends{0, 2};
    const Group group = whole.subgroup(ends);
    const ArenaPiece piece = group.arena()->allocate(group.arena_member(), 8 * sizeof(double));
    auto* values = reinterpret_cast<double*>(piece.data());
    std::fill_n(values, 8, rank + 0.5);
    const Registration known = group.share("weights", {values, 8, DType::Float64});
    const int other = 1 - group.rank();
    const Span view = group.shared(other, "weights", Deadline::after(10s));
    EXPECT_EQ(view.count, 8u);
    EXPECT_EQ(view.type, DType::Float64);
    EXPECT_EQ(static_cast<double*>(view.data)[7], ends[static_cast<std::size_t>(other)] + 0.5);
    EXPECT_THROW(group.shared(other, "weight", Deadline::after(1ms)), Error);
    EXPECT_THROW(whole.shared(0, "weights", Deadline::after(1ms)), Error) << "of another group";
    group.barrier().wait();
  });
  EXPECT_THROW(Group::solo().shared(0, "weights", Deadline::after(1ms)), Error);
}

}  // namespace
}  // namespace trireme::comm
