// Groups over lists of ranks: rows and columns of a mesh, other orders, sub-groups of sub-groups,
// several at once.

#include <algorithm>
#include <numeric>

#include "tests/conformance/buffer.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm::conformance {
namespace {

using Ranks = std::vector<int>;

bool holds(const Ranks& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// Every member contributes its rank in the world; all members receive the list, in the group's
// order.
void expect_members(const Group& sub, const Group& world, const Ranks& ranks, Report& report) {
  const std::int32_t mine = world.rank();
  std::vector<std::int32_t> all(ranks.size(), -1);
  sub.all_gather(span(all), {&mine, 1, DType::Int32}).wait();
  report.expect(std::equal(all.begin(), all.end(), ranks.begin(), ranks.end()),
                "a sub-group of " + std::to_string(ranks.size()) + " has other members");
  report.expect(ranks[static_cast<std::size_t>(sub.rank())] == world.rank(),
                "a sub-group numbers its members otherwise than its list");
  report.expect(sub.epoch() == world.epoch(), "a sub-group is of another epoch");
}

Work sum(const Group& group, Buffer& data, int salt) {
  data.write(Cycle::input(DType::Float32, salt, group.rank()));
  return group.all_reduce(data.span(), ReduceOp::Sum);
}

void expect_sum(const Group& group, const Buffer& data, int salt, Report& report) {
  data.expect(Cycle::result(DType::Float32, ReduceOp::Sum, salt, group.size()),
              "sum of a sub-group of " + std::to_string(group.size()), report);
}

void lists(const Group& group, Report& report) {
  Ranks all(static_cast<std::size_t>(group.size()));
  std::iota(all.begin(), all.end(), 0);
  const Ranks reversed(all.rbegin(), all.rend());
  Ranks even, odd;
  for (const int rank : all) (rank % 2 == 0 ? even : odd).push_back(rank);
  for (const Ranks& ranks : {all, reversed, even, odd, Ranks{group.rank()}}) {
    if (!holds(ranks, group.rank())) continue;
    const Group sub = group.subgroup(ranks);
    expect_members(sub, group, ranks, report);
    Buffer data(group, DType::Float32, 9001, Place::Mixed);
    sum(sub, data, 5).wait();
    expect_sum(sub, data, 5, report);
    std::int32_t from_root = sub.rank() == 0 ? 77 : 0;
    sub.broadcast({&from_root, 1, DType::Int32}, 0).wait();
    report.expect(from_root == 77, "broadcast in a sub-group");
  }
}

struct MeshPlace {
  Ranks row, column;
};

// The first four ranks as a 2 x 2 mesh.
MeshPlace mesh_place(int rank) {
  const int row = rank / 2, column = rank % 2;
  return {{2 * row, 2 * row + 1}, {column, column + 2}};
}

// Rows, columns and the world in flight at once; ranks wait for them in different orders.
void mesh(const Group& group, Report& report) {
  std::vector<Group> groups{group};
  if (group.size() >= 4 && group.rank() < 4) {
    const MeshPlace place = mesh_place(group.rank());
    groups.push_back(group.subgroup(place.row));
    groups.push_back(group.subgroup(place.column));
  }
  for (int round = 0; round < 6; ++round) {
    std::vector<Buffer> buffers;
    std::vector<Work> works;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t count = round % 3 == 0 ? 7 : round % 3 == 1 ? 4097 : 150001;
      buffers.emplace_back(group, DType::Float32, count,
                           round < 3 ? Place::Ordinary : Place::Mixed);
    }
    // Ranks also start them in different orders: groups are independent.
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::size_t g = (i + static_cast<std::size_t>(group.rank())) % groups.size();
      works.push_back(sum(groups[g], buffers[g], round));
    }
    std::rotate(works.begin(), works.begin() + round % static_cast<int>(works.size()), works.end());
    for (Work& work : works) work.wait();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      expect_sum(groups[g], buffers[g], round, report);
    }
  }
}

void groups_of_groups(const Group& group, Report& report) {
  if (group.size() < 3 || group.rank() == 0) return;
  Ranks rest(static_cast<std::size_t>(group.size()) - 1);
  std::iota(rest.rbegin(), rest.rend(), 1);  // last, ..., 2, 1
  const Group outer = group.subgroup(rest);
  expect_members(outer, group, rest, report);
  if (outer.rank() > 1) return;
  const Group inner = outer.subgroup(Ranks{1, 0});
  expect_members(inner, group, {rest[1], rest[0]}, report);
}

// The same list again is another group: operations and errors of one do not affect the other.
void same_list_twice(const Group& group, Report& report) {
  if (group.size() < 2) return;
  Ranks all(static_cast<std::size_t>(group.size()));
  std::iota(all.begin(), all.end(), 0);
  const Group first = group.subgroup(all), second = group.subgroup(all);
  Buffer a(group, DType::Float32, 100, Place::Ordinary),
      b(group, DType::Float32, 100, Place::Ordinary);
  Work works[2];
  for (const int which : group.rank() % 2 == 0 ? Ranks{0, 1} : Ranks{1, 0}) {
    works[which] = which == 0 ? sum(first, a, 1) : sum(second, b, 2);
  }
  works[0].wait();
  works[1].wait();
  expect_sum(first, a, 1, report);
  expect_sum(second, b, 2, report);
  first.abort(Error(ErrorCode::Aborted, "only this one"));
  sum(second, b, 3).wait();
  expect_sum(second, b, 3, report);
}

// One thread for each of two groups, both waiting at once on every rank.
void a_thread_for_each(const Group& group, Report& report) {
  Ranks all(static_cast<std::size_t>(group.size()));
  std::iota(all.begin(), all.end(), 0);
  const Group groups[2] = {group.subgroup(all), group.subgroup(Ranks(all.rbegin(), all.rend()))};
  Report reports[2] = {Report(group.rank()), Report(group.rank())};
  testing::run_rank_threads(2, [&](int which) {
    for (int round = 0; round < 20; ++round) {
      const std::size_t count = round % 4 == 0 ? 70001 : 11;
      Buffer data(group, DType::Float32, count, round % 2 == 0 ? Place::Ordinary : Place::Shared);
      sum(groups[which], data, round).wait();
      expect_sum(groups[which], data, round, reports[which]);
    }
  });
  for (const Report& one : reports) report.expect(one.text().empty(), one.text());
}

// Short-lived groups do not leak resources.
void many_short_lived(const Group& group, Report& report) {
  Ranks all(static_cast<std::size_t>(group.size()));
  std::iota(all.begin(), all.end(), 0);
  for (int i = 0; i < 12; ++i) {
    const Group sub = group.subgroup(all);
    Buffer data(group, DType::Float32, 3, Place::Ordinary);
    sum(sub, data, i).wait();
    expect_sum(sub, data, i, report);
  }
}

constexpr Case kCases[] = {{"lists", lists},
                           {"mesh", mesh},
                           {"groups_of_groups", groups_of_groups},
                           {"same_list_twice", same_list_twice},
                           {"a_thread_for_each", a_thread_for_each},
                           {"many_short_lived", many_short_lived}};

}  // namespace

std::span<const Case> subgroup_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance
