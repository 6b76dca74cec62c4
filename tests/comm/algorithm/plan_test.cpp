// Goal:   for every collective that a Plan describes, every element of every output is written
//         exactly once, with the correct element of the correct member's input.
// Method: the plan is executed on labels (member, index) for all worlds of up to 4 ranks (2 for
//         all_to_all), all roots and all counts of up to 2 per member, and compared with the
//         definition of each collective.

#include "trireme/comm/algorithm/plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace trireme::comm {
namespace {

constexpr std::size_t kCountMax = 2;

// A member and an index in its input.
using Label = std::pair<int, std::size_t>;
using Labels = std::vector<Label>;

std::size_t at(const std::vector<std::size_t>& values, int index) {
  return values[static_cast<std::size_t>(index)];
}

std::size_t sum_before(const std::vector<std::size_t>& counts, int member) {
  return std::accumulate(counts.begin(), counts.begin() + member, std::size_t{0});
}

// Executes `reader`'s part. plans[m] is the plan as member m created it.
Labels carry_out(const std::vector<Plan>& plans, int reader, std::size_t output_count) {
  const Label nobody{-1, 0};
  Labels out(output_count, nobody);
  const Plan& mine = plans[static_cast<std::size_t>(reader)];
  for (int from = 0; from < static_cast<int>(plans.size()); ++from) {
    const Plan& theirs = plans[static_cast<std::size_t>(from)];
    const MemberSlice sent = theirs.block(reader, from, from);
    const MemberSlice received = mine.block(reader, from, reader);
    EXPECT_EQ(sent.count, received.count);
    if (!mine.reads(reader, from)) {
      EXPECT_EQ(received.count, 0u);
      continue;
    }
    EXPECT_LE(sent.first + sent.count, theirs.exposed(from))
        << "the plan reads elements that are not exposed";
    for (std::size_t i = 0; i < sent.count; ++i) {
      Label& place = out.at(mine.target(from) + i);
      EXPECT_EQ(place, nobody) << "written twice";
      place = {from, sent.first + i};
    }
  }
  return out;
}

// Every vector of `size` counts up to kCountMax.
void for_all_counts(int size, const std::function<void(const std::vector<std::size_t>&)>& body) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(size), 0);
  while (true) {
    body(counts);
    std::size_t digit = 0;
    while (digit < counts.size() && counts[digit] == kCountMax) counts[digit++] = 0;
    if (digit == counts.size()) return;
    ++counts[digit];
  }
}

Operation operation(OpKind kind, const std::vector<std::size_t>& counts, int root = -1) {
  Operation op;
  op.request = {.kind = kind, .root = root};
  op.request.count = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  op.counts = counts;
  return op;
}

std::vector<Plan> same_for_all(const Operation& op, int size) {
  return std::vector<Plan>(static_cast<std::size_t>(size), Plan(op, size));
}

Labels concatenation(const std::vector<std::size_t>& counts) {
  Labels labels;
  for (int m = 0; m < static_cast<int>(counts.size()); ++m) {
    for (std::size_t i = 0; i < at(counts, m); ++i) labels.emplace_back(m, i);
  }
  return labels;
}

Labels run_of(int from, std::size_t first, std::size_t count) {
  Labels labels;
  for (std::size_t i = 0; i < count; ++i) labels.emplace_back(from, first + i);
  return labels;
}

TEST(Plan, GathersConcatenateInRankOrder) {
  for (int size = 1; size <= 4; ++size) {
    for_all_counts(size, [&](const auto& counts) {
      const Operation op = operation(OpKind::AllGather, counts);
      const auto plans = same_for_all(op, size);
      for (int reader = 0; reader < size; ++reader) {
        ASSERT_EQ(carry_out(plans, reader, op.request.count), concatenation(counts));
      }
      for (int root = 0; root < size; ++root) {
        const Operation gather = operation(OpKind::Gather, counts, root);
        const auto to_root = same_for_all(gather, size);
        for (int reader = 0; reader < size; ++reader) {
          const Labels expected = reader == root ? concatenation(counts) : Labels();
          ASSERT_EQ(carry_out(to_root, reader, expected.size()), expected);
        }
      }
    });
  }
}

TEST(Plan, ScatterCutsTheRootsInput) {
  for (int size = 1; size <= 4; ++size) {
    for_all_counts(size, [&](const auto& counts) {
      for (int root = 0; root < size; ++root) {
        const Operation op = operation(OpKind::Scatter, counts, root);
        const auto plans = same_for_all(op, size);
        for (int reader = 0; reader < size; ++reader) {
          ASSERT_EQ(carry_out(plans, reader, at(counts, reader)),
                    run_of(root, sum_before(counts, reader), at(counts, reader)));
        }
        for (int member = 0; member < size; ++member) {
          ASSERT_EQ(plans[0].exposed(member), member == root ? op.request.count : 0u);
        }
      }
    });
  }
}

TEST(Plan, BroadcastWritesEveryMemberExceptTheRoot) {
  for (int size = 1; size <= 4; ++size) {
    for (std::size_t count = 0; count <= 3; ++count) {
      for (int root = 0; root < size; ++root) {
        Operation op = operation(OpKind::Broadcast, {}, root);
        op.request.count = count;
        const auto plans = same_for_all(op, size);
        for (int reader = 0; reader < size; ++reader) {
          const Labels expected = reader == root ? Labels() : run_of(root, 0, count);
          ASSERT_EQ(carry_out(plans, reader, expected.size()), expected);
          ASSERT_EQ(plans[0].exposed(reader), reader == root ? count : 0u);
        }
      }
    }
  }
}

TEST(Plan, ReduceScatterReadsEachMembersBlockForTheReader) {
  for (int size = 1; size <= 4; ++size) {
    for_all_counts(size, [&](const auto& counts) {
      const Operation op = operation(OpKind::ReduceScatter, counts);
      const Plan plan(op, size);
      EXPECT_TRUE(plan.reduces());
      for (int reader = 0; reader < size; ++reader) {
        for (int from = 0; from < size; ++from) {
          ASSERT_TRUE(plan.reads(reader, from));
          ASSERT_EQ(plan.block(reader, from, reader),
                    (MemberSlice{sum_before(counts, reader), at(counts, reader)}));
        }
        ASSERT_EQ(plan.exposed(reader), op.request.count);
      }
      ASSERT_EQ(plan.target(0), 0u);
    });
  }
}

TEST(Plan, AllToAllTransposesBlocks) {
  for (int size = 1; size <= 2; ++size) {  // 3^(size * size) layouts
    const auto n = static_cast<std::size_t>(size);
    for_all_counts(size * size, [&](const auto& matrix) {  // matrix[from * n + to]
      std::vector<Operation> ops;
      for (std::size_t me = 0; me < n; ++me) {
        Operation op = operation(OpKind::AllToAll, {});
        for (std::size_t other = 0; other < n; ++other) {
          op.send_counts.push_back(matrix[me * n + other]);
          op.counts.push_back(matrix[other * n + me]);
        }
        ops.push_back(op);
      }
      std::vector<Plan> plans;
      for (const Operation& op : ops) plans.emplace_back(op, size);
      for (int reader = 0; reader < size; ++reader) {
        Labels expected;
        for (int from = 0; from < size; ++from) {
          const auto& row = ops[static_cast<std::size_t>(from)].send_counts;
          const Labels part = run_of(from, sum_before(row, reader), at(row, reader));
          expected.insert(expected.end(), part.begin(), part.end());
        }
        ASSERT_EQ(carry_out(plans, reader, expected.size()), expected);
      }
    });
  }
}

TEST(Plan, EqualSharesNeedNoCounts) {
  for (const OpKind kind : {OpKind::AllGather, OpKind::AllToAll, OpKind::ReduceScatter}) {
    Operation even = operation(kind, {});
    even.request.count = 3;
    Operation spelled = even;
    spelled.counts = spelled.send_counts = {3, 3, 3};
    const Plan a(even, 3), b(spelled, 3);
    for (int reader = 0; reader < 3; ++reader) {
      for (int from = 0; from < 3; ++from) {
        EXPECT_EQ(a.block(reader, from, from), b.block(reader, from, from)) << name_of(kind);
        EXPECT_EQ(a.target(from), b.target(from)) << name_of(kind);
      }
      EXPECT_EQ(a.exposed(reader), b.exposed(reader)) << name_of(kind);
    }
  }
}

TEST(Plan, OneBlockForAllReadersOrOneForEach) {
  const auto is_shared = [](OpKind kind) {
    const Operation op = operation(kind, {1, 1}, 0);
    return Plan(op, 2).is_shared();
  };
  EXPECT_TRUE(is_shared(OpKind::Broadcast));
  EXPECT_TRUE(is_shared(OpKind::AllGather));
  EXPECT_TRUE(is_shared(OpKind::Gather));
  EXPECT_FALSE(is_shared(OpKind::Scatter));
  EXPECT_FALSE(is_shared(OpKind::AllToAll));
  EXPECT_FALSE(is_shared(OpKind::ReduceScatter));
}

}  // namespace
}  // namespace trireme::comm
