// Goal:   every rank has a place, and along each axis the group of those that differ there alone;
//         hosts become axes; what does not fit is refused by name.
// Method: ranks as threads, some on made-up hosts; sums over axes say who was in them.

#include "trireme/mesh/mesh.h"

#include <gtest/gtest.h>

#include "tests/comm/hosted_ranks.h"
#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"

namespace trireme::mesh {
namespace {

// A number that says which ranks are in a group.
std::int64_t members_of(const comm::Group& group, int rank) {
  std::int64_t bits = std::int64_t{1} << rank;
  group.all_reduce({&bits, 1, comm::DType::Int64}, comm::ReduceOp::Sum).wait();
  return bits;
}

TEST(Mesh, AxesHaveTheRanksThatDifferAlongThem) {
  const std::vector<comm::Group> groups = comm::connect_threads(6);
  testing::run_rank_threads(6, [&](int rank) {
    const Mesh mesh(groups[static_cast<std::size_t>(rank)],
                    {{"data", 3}, {"one", 1}, {"tensor", 2}});
    EXPECT_EQ(mesh.place("data"), rank / 2);
    EXPECT_EQ(mesh.place("tensor"), rank % 2);
    EXPECT_EQ(mesh.place("one"), 0);
    EXPECT_EQ(mesh.group("one").size(), 1);
    EXPECT_EQ(mesh.size("data"), 3);
    const Layout rows(View({9}), {{"data", 0}});
    EXPECT_EQ(rows.shard(mesh.places()).box(), (Box{{rank / 2 * 3}, {3}}));
    ASSERT_EQ(mesh.places("data").size(), 2U);
    EXPECT_EQ(mesh.places("data")[1].axis, "tensor");
    for (int other = 0; other < 6; ++other) {
      EXPECT_EQ(mesh.place("data", other), other / 2);
      EXPECT_EQ(mesh.place("one", other), 0);
      EXPECT_EQ(mesh.place("tensor", other), other % 2);
    }
    EXPECT_EQ(mesh.group("data").rank(), rank / 2);
    EXPECT_EQ(members_of(mesh.group("data"), rank), 0b010101 << rank % 2);
    EXPECT_EQ(members_of(mesh.group("tensor"), rank), 0b11 << rank / 2 * 2);
  });
}

TEST(Mesh, HostsAreAxes) {
  comm::run_hosted_ranks(
      {"a", "b", "b", "a"}, comm::Transport::Auto, [](cluster::World&, const comm::Group& group) {
        EXPECT_EQ(group.hosts(), (std::vector<int>{0, 1, 1, 0}));
        const auto mesh = Mesh::of_hosts(group);
        ASSERT_TRUE(mesh);
        EXPECT_EQ(mesh->axes(), (std::vector<Axis>{{"across", 2}, {"inside", 2}}));
        const bool is_first = group.rank() == 0 || group.rank() == 3;
        EXPECT_EQ(mesh->place("across"), is_first ? 0 : 1);
        EXPECT_EQ(mesh->place("inside", 3), 1);
        EXPECT_EQ(mesh->place("across", 3), 0);
        EXPECT_EQ(members_of(mesh->group("inside"), group.rank()), is_first ? 0b1001 : 0b0110);
        EXPECT_EQ(members_of(mesh->group("across"), group.rank()),
                  group.rank() < 2 ? 0b11 : 0b1100);
        EXPECT_TRUE(mesh->group("inside").arena());
        EXPECT_FALSE(mesh->group("across").arena());
      });
  comm::run_hosted_ranks(
      {"a", "b", "b"}, comm::Transport::Auto,
      [](cluster::World&, const comm::Group& group) { EXPECT_FALSE(Mesh::of_hosts(group)); });
  const auto alone = Mesh::of_hosts(comm::Group::solo());
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->group("inside").size(), 1);
}

TEST(Mesh, WhatDoesNotFitIsRefused) {
  const comm::Group solo = comm::Group::solo();
  const auto why = [&](const std::vector<Axis>& axes, const std::vector<int>& order) {
    try {
      Mesh(solo, axes, order);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(why({{"data", 1}}, {}), "");
  EXPECT_NE(why({{"data", 2}}, {}).find("data 2 has 2 places, for 1 ranks"), std::string::npos);
  EXPECT_NE(why({{"data", 0}}, {}).find("at least one place"), std::string::npos);
  EXPECT_NE(why({{"data", 1}, {"data", 1}}, {}).find("two axes"), std::string::npos);
  EXPECT_NE(why({{"data", 1}}, {1}).find("every rank once"), std::string::npos);
  const Mesh mesh(solo, {{"data", 1}});
  EXPECT_THROW(mesh.group("tensor"), Error);
}

}  // namespace
}  // namespace trireme::mesh
