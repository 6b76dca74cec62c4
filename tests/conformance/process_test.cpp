// Goal:   every case of the suite passes between real processes, on every transport.
// Method: starts this binary once per rank; a world connects once and runs the whole sweep, then
//         random programs. TRIREME_HOST simulates several hosts; it can only split one real host.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/cluster/store_server.h"
#include "tests/conformance/random_program.h"
#include "tests/conformance/sweep.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::comm::conformance {
namespace {

using namespace std::chrono_literals;
using testing::RankChannel;
using testing::RankProcesses;

// A transport, and the number of simulated hosts of its ranks.
struct Carrier {
  std::string_view name;
  Transport transport;
  int hosts;
};

constexpr Carrier kCarriers[] = {
    {"shm", Transport::Shm, 1}, {"tcp", Transport::Tcp, 1}, {"hierarchical", Transport::Auto, 2}};

struct Param {
  Carrier carrier;
  int ranks;

  std::string name() const { return std::string(carrier.name) + "_" + std::to_string(ranks); }
  friend void PrintTo(const Param& param, std::ostream* out) { *out << param.name(); }
};

// For each carrier an even world, and an odd one that is not next to a power of two; shared memory
// alone is tested with all of them on threads (conformance_test.cpp). `make soak` runs the rest.
// Sanitizers make every process several times slower and find no more with seven ranks than with
// three.
std::vector<Param> all_params() {
#ifdef TRIREME_IS_SANITIZED
  const std::vector<int> all{1, 2, 3}, few = all;
#else
  const std::vector<int> all{1, 2, 3, 4, 7}, few{2, 4, 7};
#endif
  std::vector<Param> params;
  for (const Carrier& carrier : kCarriers) {
    for (const int ranks : runs_all_worlds() ? all : few) params.push_back({carrier, ranks});
  }
  return params;
}

std::string run_random_programs(const Group& group) {
  std::string complaints;
  int left = 5;
  for (std::uint64_t seed = 1000; left != 0 && complaints.empty(); ++seed) {
    const Program program = make_program(seed);
    if (program.ranks != group.size()) continue;
    complaints = run_program(program, seed, group);
    if (!complaints.empty()) complaints = "seed " + std::to_string(seed) + ": " + complaints;
    --left;
  }
  return complaints;
}

// Neighbouring ranks share a host; in a world of four, every other rank does.
int host_of(const Param& param, int rank) {
  if (param.ranks == 4) return rank % param.carrier.hosts;
  return rank * param.carrier.hosts / param.ranks;
}

// The environment of one rank: its number and its host.
cluster::Lookup lookup_of(const Param& param, int rank) {
  return [param, rank](const char* name) -> const char* {
    static thread_local std::string value;
    if (std::string_view(name) == "TRIREME_RANK")
      value = std::to_string(rank);
    else if (std::string_view(name) == "TRIREME_HOST")
      value = "host" + std::to_string(host_of(param, rank));
    else
      return std::getenv(name);
    return value.c_str();
  };
}

std::string sweep(const Param& param, int rank) {
  cluster::World world = cluster::World::join({.lookup = lookup_of(param, rank), .timeout = 30s});
  const Group group = connect(
      world, {.transport = param.carrier.transport, .timeout = 30s, .operation_timeout = 30s});
  std::string complaints = conformance_sweep(group);
  if (group.size() >= 2 && group.size() <= 5) complaints += run_random_programs(group);
  group.barrier().wait();
  return complaints;
}

class Processes : public ::testing::TestWithParam<Param> {};

TEST_P(Processes, Conform) {
  const Param param = GetParam();
  const auto body = [&](RankChannel& channel) {
    std::string complaints;
    try {
      complaints = sweep(param, channel.rank());
    } catch (const std::exception& thrown) {
      complaints = "rank " + std::to_string(channel.rank()) + ": the sweep threw: " + thrown.what();
    }
    std::replace(complaints.begin(), complaints.end(), '\n', '|');
    channel.say(complaints);
    channel.hear();
  };
  RankProcesses::run_if_child(body);
  const cluster::StoreServer store;
  RankProcesses ranks(
      {.count = param.ranks,
       .environment = store.variables(
           {{"TRIREME_SIZE", std::to_string(param.ranks)}, {"TRIREME_JOB", "conformance"}})},
      body);
  const Deadline deadline = Deadline::after(110s);
  std::string complaints;
  for (int rank = 0; rank < param.ranks; ++rank) complaints += ranks.hear(rank, deadline);
  std::replace(complaints.begin(), complaints.end(), '|', '\n');
  EXPECT_EQ(complaints, "");
}

INSTANTIATE_TEST_SUITE_P(Carriers, Processes, ::testing::ValuesIn(all_params()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace trireme::comm::conformance
