// Goal:   two requests are equal exactly if all fields are equal, each has a text description, and
//         layouts with different counts have different hashes.
// Method: one request with each field changed in turn; the hashes of all small layouts in a set.

#include "trireme/comm/request.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace trireme::comm {
namespace {

OpRequest all_reduce() {
  return {.kind = OpKind::AllReduce, .type = DType::Float32, .reduce = ReduceOp::Sum, .count = 9};
}

TEST(Request, AnyDifferentFieldMakesRequestsUnequal) {
  const OpRequest same = all_reduce();
  std::vector<OpRequest> others(7, same);
  others[0].kind = OpKind::Reduce;
  others[1].type = DType::Int32;
  others[2].reduce = ReduceOp::Max;
  others[3].root = 0;
  others[4].count = 8;
  others[5].layout = 1;
  others[6].part_of = OpKind::OrderedSum;
  EXPECT_EQ(same, all_reduce());
  for (const OpRequest& other : others) EXPECT_FALSE(other == same) << other.to_text();
}

TEST(Request, IsDescribedInText) {
  EXPECT_EQ(all_reduce().to_text(), "all_reduce of 9 float32 (sum)");
  OpRequest request{.kind = OpKind::Broadcast, .type = DType::BFloat16, .root = 0, .count = 1};
  EXPECT_EQ(request.to_text(), "broadcast of 1 bfloat16, root 0");
  request = {.kind = OpKind::Reduce, .type = DType::Int8, .reduce = ReduceOp::Mean, .root = 3};
  EXPECT_EQ(request.to_text(), "reduce of 0 int8 (mean), root 3");
  EXPECT_EQ((OpRequest{.kind = OpKind::Barrier}.to_text()), "barrier");
  EXPECT_EQ(OpRequest{}.to_text(), "nothing");
  request = {.kind = OpKind::AllGather, .type = DType::Float64, .count = 4, .layout = 7};
  EXPECT_EQ(request.to_text(), "all_gather of 4 float64, uneven layout 7");
  request.part_of = OpKind::OrderedSum;
  EXPECT_EQ(request.to_text(), "ordered_sum of 4 float64 (sum), uneven layout 7");
}

TEST(Request, EveryKindHasItsOwnName) {
  std::set<std::string_view> names;
  const int count = static_cast<int>(OpKind::Receive) + 1;
  for (int i = 0; i < count; ++i) names.insert(name_of(static_cast<OpKind>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(names.count("?"), 0u);
  EXPECT_EQ(name_of(static_cast<OpKind>(count)), "?");
}

TEST(Request, IsTriviallyCopyable) {
  const OpRequest sent = all_reduce();
  unsigned char wire[sizeof(OpRequest)];
  std::memcpy(wire, &sent, sizeof(sent));
  OpRequest received;
  std::memcpy(&received, wire, sizeof(wire));
  EXPECT_EQ(received, sent);
}

TEST(Request, LayoutsOfDifferentCountsHaveDifferentHashes) {
  std::set<std::uint64_t> hashes;
  std::size_t layouts = 0;
  for (std::size_t a = 0; a < 16; ++a) {
    hashes.insert(layout_hash(std::vector<std::size_t>{a}));
    ++layouts;
    for (std::size_t b = 0; b < 16; ++b) {
      hashes.insert(layout_hash(std::vector<std::size_t>{a, b}));
      ++layouts;
      for (std::size_t c = 0; c < 16; ++c) {
        hashes.insert(layout_hash(std::vector<std::size_t>{a, b, c}));
        ++layouts;
      }
    }
  }
  EXPECT_EQ(hashes.size(), layouts);
  EXPECT_EQ(hashes.count(0), 0u) << "0 means even";
  EXPECT_NE(layout_hash({}), 0u);
}

}  // namespace
}  // namespace trireme::comm
