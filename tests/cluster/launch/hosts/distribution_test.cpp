// Goal:   workers are distributed to their hosts in proportion, and the share of a lost host is
//         reserved for it.
// Method: small handwritten cases.

#include "trireme/cluster/launch/hosts/distribution.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch::hosts {
namespace {

using Parts = std::vector<int>;

TEST(Distribution, WorkersAreDistributedInProportionToTheList) {
  EXPECT_EQ(distribute(4, {{.ranks = 2}, {.ranks = 2}}), (Parts{2, 2}));
  EXPECT_EQ(distribute(6, {{.ranks = 4}, {.ranks = 2}}), (Parts{4, 2}));
  EXPECT_EQ(distribute(3, {{.ranks = 4}, {.ranks = 2}}), (Parts{2, 1}));
  EXPECT_EQ(distribute(9, {{.ranks = 4}, {.ranks = 2}}), (Parts{6, 3}));
  EXPECT_EQ(distribute(3, {{.ranks = 1}, {.ranks = 1, .is_given_up = true}}), (Parts{3, 0}));
  EXPECT_EQ(distribute(3, {{.ranks = 1, .is_given_up = true}}), (Parts{0}));
}

TEST(Distribution, TheShareOfALostHostIsReserved) {
  std::vector<HostCapacity> capacities{{.ranks = 2, .living = 2}, {.ranks = 2, .is_up = false}};
  EXPECT_EQ(room_for(4, capacities), 2);
  EXPECT_EQ(room_for(6, capacities), 3);
  capacities[1].is_up = true;
  EXPECT_EQ(room_for(4, capacities), 4);
  EXPECT_EQ(next_host(4, capacities), 1u);
}

TEST(Distribution, TheFirstHostBelowItsShareGetsTheNextWorker) {
  std::vector<HostCapacity> capacities{{.ranks = 2}, {.ranks = 2}};
  Parts order;
  for (int i = 0; i < 5; ++i) {
    const auto next = next_host(4, capacities);
    ASSERT_TRUE(next);
    order.push_back(static_cast<int>(*next));
    ++capacities[*next].living;
  }
  EXPECT_EQ(order, (Parts{0, 0, 1, 1, 0}))
      << "with all shares filled, the host with the fewest workers is next";
  capacities[0].is_up = capacities[1].is_up = false;
  EXPECT_FALSE(next_host(4, capacities));
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
