// Goal:   workers are distributed to their hosts in proportion, and the share of a lost host is
//         reserved for it.
// Method: small handwritten cases.

#include "trireme/cluster/launch/hosts/dealing.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch::hosts {
namespace {

using Parts = std::vector<int>;

TEST(Dealing, FollowsTheList) {
  EXPECT_EQ(deal(4, {{.ranks = 2}, {.ranks = 2}}), (Parts{2, 2}));
  EXPECT_EQ(deal(6, {{.ranks = 4}, {.ranks = 2}}), (Parts{4, 2}));
  EXPECT_EQ(deal(3, {{.ranks = 4}, {.ranks = 2}}), (Parts{2, 1}));
  EXPECT_EQ(deal(9, {{.ranks = 4}, {.ranks = 2}}), (Parts{6, 3}));
  EXPECT_EQ(deal(3, {{.ranks = 1}, {.ranks = 1, .is_given_up = true}}), (Parts{3, 0}));
  EXPECT_EQ(deal(3, {{.ranks = 1, .is_given_up = true}}), (Parts{0}));
}

TEST(Dealing, WhatALostHostHasWaitsForIt) {
  std::vector<Berth> berths{{.ranks = 2, .living = 2}, {.ranks = 2, .is_up = false}};
  EXPECT_EQ(room_for(4, berths), 2);
  EXPECT_EQ(room_for(6, berths), 3);
  berths[1].is_up = true;
  EXPECT_EQ(room_for(4, berths), 4);
  EXPECT_EQ(next_berth(4, berths), 1u);
}

TEST(Dealing, TheFirstThatLacksSomebodyComesFirst) {
  std::vector<Berth> berths{{.ranks = 2}, {.ranks = 2}};
  Parts order;
  for (int i = 0; i < 5; ++i) {
    const auto next = next_berth(4, berths);
    ASSERT_TRUE(next);
    order.push_back(static_cast<int>(*next));
    ++berths[*next].living;
  }
  EXPECT_EQ(order, (Parts{0, 0, 1, 1, 0})) << "and then the one with the fewest";
  berths[0].is_up = berths[1].is_up = false;
  EXPECT_FALSE(next_berth(4, berths));
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
