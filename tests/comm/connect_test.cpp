// Goal:   connect() chooses the correct transport between any ranks: shared memory, TCP, or both,
//         and the results are the same.
// Method: ranks as threads, each with its own World; TRIREME_HOST assigns them to simulated hosts.

#include "trireme/comm/connect.h"

#include <gtest/gtest.h>

#include "tests/comm/hosted_ranks.h"
#include "trireme/comm/hierarchy/backend.h"
#include "trireme/comm/hierarchy/wiring.h"
#include "trireme/comm/mpi/messenger.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

struct Layout {
  std::vector<std::string> hosts = {};  // by rank
  Transport transport = Transport::Auto;
  std::string_view expected = {};  // name of the backend
  bool connects_twice = false;
};

void run_world(const Layout& layout, const std::function<void(const Group&)>& body) {
  run_hosted_ranks(layout.hosts, layout.transport, [&](cluster::World& world, const Group& group) {
    EXPECT_EQ(group.capabilities().name, layout.expected);
    body(group);
    group.barrier().wait();
    if (!layout.connects_twice) return;
    const Group again =
        connect(world, {.transport = layout.transport, .timeout = 20s, .operation_timeout = 20s});
    guarded(again, [&] { body(again); });
  });
}

void check_everything(const Group& group) {
  const int n = group.size();
  for (std::size_t count :
       {std::size_t{1}, std::size_t{17}, std::size_t{4097}, std::size_t{200001}}) {
    std::vector<float> data(count, static_cast<float>(group.rank() + 1));
    group.all_reduce(span(data), ReduceOp::Sum).wait();
    ASSERT_EQ(data.back(), static_cast<float>(n * (n + 1) / 2)) << count;
    ASSERT_EQ(data.front(), data.back());
    std::vector<double> mean(count, group.rank());
    group.all_reduce(span(mean), ReduceOp::Mean).wait();
    ASSERT_EQ(mean[count / 2], (n - 1) / 2.0);
    for (int root : {0, n - 1}) {
      std::vector<std::int32_t> word(count, group.rank());
      group.broadcast(span(word), root).wait();
      ASSERT_EQ(word[count - 1], root);
    }
    std::vector<std::int32_t> all(count * static_cast<std::size_t>(n)), mine(count, group.rank());
    group.all_gather(span(all), const_span(mine)).wait();
    for (int r = 0; r < n; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r) * count], r);
  }
  std::vector<int> owners;
  for (int s = 0; s < 5; ++s) owners.push_back(s % n);
  std::vector<float> share(100, 1.5f), sum(100);
  std::vector<LogicalShare> mine;
  for (int s = 0; s < 5; ++s) {
    if (owners[static_cast<std::size_t>(s)] == group.rank()) {
      mine.push_back({s, const_span(share)});
    }
  }
  group.ordered_sum(span(sum), mine, owners).wait();
  EXPECT_EQ(sum[99], 7.5f);
}

TEST(Connect, TwiceInOneEpochGivesTwoGroups) {
  run_world({.hosts = {"a", "a", "b"}, .expected = "hierarchical", .connects_twice = true},
            check_everything);
}

TEST(Connect, RanksOfOneHostShareMemory) {
  run_world({.hosts = {"", "", ""}, .expected = "shm"}, check_everything);
}

TEST(Connect, UsesTcpOnRequest) {
  run_world({.hosts = {"", "", ""}, .transport = Transport::Tcp, .expected = "tcp"},
            check_everything);
}

TEST(Connect, ConnectsRanksThatAreAllOnDifferentHosts) {
  run_world({.hosts = {"a", "b", "c"}, .expected = "tcp"}, check_everything);
}

TEST(Connect, ConnectsTwoHostsWithTwoRanksEach) {
  run_world({.hosts = {"a", "a", "b", "b"}, .expected = "hierarchical"}, check_everything);
}

TEST(Connect, ConnectsUnevenHostsWithInterleavedRanks) {
  run_world({.hosts = {"a", "b", "a", "a"}, .expected = "hierarchical"}, check_everything);
}

TEST(Connect, DifferentRequestsAreAMismatchAcrossHosts) {
  run_world({.hosts = {"a", "a", "b", "b"}, .expected = "hierarchical"}, [](const Group& group) {
    const Group doomed = group.subgroup(std::vector<int>{0, 1, 2, 3});
    std::vector<float> data(group.rank() == 3 ? 11 : 10, 1.0f);
    try {
      doomed.all_reduce(span(data), ReduceOp::Sum).wait();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch) << error.what();
    }
  });
}

TEST(Connect, TransportsHaveNames) {
  for (int i = 0; i < 4; ++i) {
    const auto transport = static_cast<Transport>(i);
    EXPECT_EQ(transport_named(name_of(transport)), transport);
  }
  EXPECT_THROW(transport_named("smoke"), Error);
}

TEST(Connect, WithoutMpiTheErrorStatesIt) {
  if (mpi::is_available()) GTEST_SKIP() << "this build has MPI";
  EXPECT_THROW(mpi::make_messenger(), Error);
}

}  // namespace
}  // namespace trireme::comm
