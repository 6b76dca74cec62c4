// Goal:   partial sums are exactly the largest subtrees held by one rank, shares are checked, and a
//         group of one rank adds along the tree.
// Method: every assignment of up to 7 slots to 3 ranks; sums are compared with a recursion written
//         here. The sum over several ranks is part of the conformance suite.

#include "trireme/comm/algorithm/ordered_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "tests/comm/fake_backend.h"
#include "trireme/comm/algorithm/strides.h"
#include "trireme/comm/group.h"
#include "trireme/comm/kernel/half.h"

namespace trireme::comm {
namespace {

int cut(int first, int last) {
  return first + static_cast<int>(std::bit_floor(static_cast<unsigned>(last - first - 1)));
}

// All subtrees of the tree over [first, last).
void subtrees(int first, int last, std::set<std::pair<int, int>>& out) {
  out.emplace(first, last);
  if (last - first == 1) return;
  subtrees(first, cut(first, last), out);
  subtrees(cut(first, last), last, out);
}

bool is_held_alone(const std::vector<int>& owners, int first, int last) {
  return std::set<int>(owners.begin() + first, owners.begin() + last).size() == 1;
}

TEST(OrderedSum, PartialsAreTheLargestSubtreesOfOneOwner) {
  for (int slots = 1; slots <= 7; ++slots) {
    std::set<std::pair<int, int>> trees;
    subtrees(0, slots, trees);
    const int dealings = static_cast<int>(std::pow(3, slots) + 0.5);
    for (int dealing = 0; dealing < dealings; ++dealing) {
      std::vector<int> owners;
      for (int rest = dealing, s = 0; s < slots; ++s, rest /= 3) owners.push_back(rest % 3);
      int next = 0;
      for (const Partial& partial : partials_of(owners)) {
        ASSERT_EQ(partial.first, next) << "from left to right, each slot once";
        ASSERT_TRUE(trees.count({partial.first, partial.last}));
        ASSERT_TRUE(is_held_alone(owners, partial.first, partial.last));
        ASSERT_EQ(partial.owner, owners[static_cast<std::size_t>(next)]);
        next = partial.last;
        for (const auto& [first, last] : trees) {
          const bool is_larger = first <= partial.first && partial.last <= last &&
                                 last - first > partial.last - partial.first;
          ASSERT_FALSE(is_larger && is_held_alone(owners, first, last)) << "not the largest";
        }
      }
      ASSERT_EQ(next, slots);
    }
  }
}

TEST(OrderedSum, WithoutSlotsThereAreNoPartialSums) {
  EXPECT_TRUE(partials_of({}).empty());
}

class Shares : public ::testing::Test {
 protected:
  ErrorCode code_of(std::vector<LogicalShare> mine, std::vector<int> owners) {
    try {
      check_shares(span(out_), mine, owners, 1, 3);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::NotFound;  // no error
  }
  LogicalShare share(int slot) { return {slot, const_span(data_)}; }

  std::vector<float> out_ = std::vector<float>(4);
  std::vector<float> data_ = std::vector<float>(4);
};

TEST_F(Shares, AreAcceptedInAnyOrder) {
  const auto shares = check_shares(span(out_), std::vector<LogicalShare>{share(3), share(1)},
                                   std::vector<int>{0, 1, 2, 1}, 1, 3);
  EXPECT_EQ(shares.owners, (std::vector<int>{0, 1, 2, 1}));
  EXPECT_EQ(shares.data, (std::vector<const void*>{nullptr, data_.data(), nullptr, data_.data()}));
}

TEST_F(Shares, ThatDoNotCoverAllSlotsAreMisuse) {
  EXPECT_EQ(code_of({share(1)}, {0, 1, 2}), ErrorCode::NotFound) << "these shares are valid";
  EXPECT_EQ(code_of({}, {}), ErrorCode::Misuse) << "no slots";
  EXPECT_EQ(code_of({}, {0, 1}), ErrorCode::Misuse) << "slot 1 is missing";
  EXPECT_EQ(code_of({share(0)}, {0, 1}), ErrorCode::Misuse) << "slot 0 belongs to another rank";
  EXPECT_EQ(code_of({share(1), share(1)}, {0, 1}), ErrorCode::Misuse) << "twice";
  EXPECT_EQ(code_of({share(2)}, {0, 1}), ErrorCode::Misuse) << "no such slot";
  EXPECT_EQ(code_of({share(-1)}, {0, 1}), ErrorCode::Misuse) << "no such slot";
  EXPECT_EQ(code_of({share(1)}, {0, 1, 3}), ErrorCode::Misuse) << "no such rank";
  EXPECT_EQ(code_of({share(1)}, {-1, 1}), ErrorCode::Misuse) << "no such rank";
  std::vector<float> shorter(3);
  EXPECT_EQ(code_of({{1, const_span(shorter)}}, {0, 1}), ErrorCode::Misuse) << "count";
  std::vector<std::int32_t> other(4);
  EXPECT_EQ(code_of({{1, const_span(other)}}, {0, 1}), ErrorCode::Misuse) << "type";
}

float tree(const std::vector<float>& values, int first, int last) {
  if (last - first == 1) return values[static_cast<std::size_t>(first)];
  return tree(values, first, cut(first, last)) + tree(values, cut(first, last), last);
}

// Slot s holds values of very different magnitudes, so that the result depends on the order of
// additions.
std::vector<float> slot_values(int slots, std::size_t element) {
  std::vector<float> values;
  for (int s = 0; s < slots; ++s) {
    values.push_back(std::ldexp(1.0f + 0.37f * static_cast<float>(s),
                                static_cast<int>(element * 7 + s * 11) % 23 - 11));
  }
  return values;
}

TEST(OrderedSum, OneRankAloneAddsAlongTheTree) {
  for (const int slots : {1, 2, 3, 8, 13}) {
    for (const std::size_t count : {1u, 3u, 513u}) {
      std::vector<std::vector<float>> shares(static_cast<std::size_t>(slots));
      std::vector<LogicalShare> mine;
      for (int s = 0; s < slots; ++s) {
        auto& share = shares[static_cast<std::size_t>(s)];
        for (std::size_t i = 0; i < count; ++i) {
          share.push_back(slot_values(slots, i)[static_cast<std::size_t>(s)]);
        }
        mine.push_back({s, const_span(share)});
      }
      std::vector<float> sum(count), mean(count);
      const std::vector<int> owners(static_cast<std::size_t>(slots), 0);
      const Group solo = Group::solo();
      solo.ordered_sum(span(sum), mine, owners).wait();
      solo.ordered_sum(span(mean), mine, owners, ReduceOp::Mean).wait();
      for (std::size_t i = 0; i < count; ++i) {
        const float expected = tree(slot_values(slots, i), 0, slots);
        ASSERT_EQ(sum[i], expected) << slots << " slots";
        ASSERT_EQ(mean[i], expected / static_cast<float>(slots)) << slots << " slots";
      }
    }
  }
}

// Rank 1 of three holds two slots that do not form a subtree; its sums and messages are long.
TEST(OrderedSum, LongSumsYieldBetweenStrides) {
  FakeBackend backend;
  backend.on_run = [](const Operation&) -> Task { co_return; };
  const std::size_t count = 30 * kStrideSize / sizeof(float);
  const std::vector<float> share(count, 1.0f);
  std::vector<float> out(count);
  const std::vector<int> owners{1, 1, 1, 0};
  Operation op;
  op.request = {.kind = OpKind::OrderedSum, .type = DType::Float32, .count = count};
  op.output = reinterpret_cast<std::byte*>(out.data());
  const void* const held = share.data();
  Task task = ordered_sum(backend, op, {owners, {held, held, held, nullptr}});
  int steps = 1;
  while (task.step() != Task::Step::Done) ++steps;
  // Two partial sums in three slices of ten strides each, and this rank's slice at the end.
  EXPECT_EQ(steps, 2 * 3 * 9 + 9 + 1);
}

TEST(OrderedSum, HalvesAreRoundedOnce) {
  const std::uint16_t large = narrow_bfloat16(256), one = narrow_bfloat16(1);
  const std::uint16_t slots[] = {large, one, one, one, one};
  std::vector<LogicalShare> mine;
  for (int s = 0; s < 5; ++s) mine.push_back({s, {&slots[s], 1, DType::BFloat16}});
  std::uint16_t sum = 0;
  const std::vector<int> owners(5, 0);
  Group::solo().ordered_sum({&sum, 1, DType::BFloat16}, mine, owners).wait();
  EXPECT_EQ(widen_bfloat16(sum), 260.0f);
}

}  // namespace
}  // namespace trireme::comm
