// Four ranks form a group, exchange messages and print what they know about each other.
//
//   build/trireme run -n 4 build/examples/01_hello_ranks
//
// It also runs under torchrun, mpirun and srun, and without a launcher as a job with one rank.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cluster/rank_names.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"

using namespace std::chrono_literals;
using namespace trireme;

namespace {

void say(const std::string& line) {
  // Uses one write per line, so that the lines of several ranks never mix.
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

// Sends a message through the store to the next rank and receives one from the previous rank.
void greet(cluster::World& world, Deadline deadline) {
  const int next = (world.rank() + 1) % world.size();
  world.store().set(fmt::format("letter/{}", next),
                    bytes_of(fmt::format("good morning from rank {}", world.rank())), deadline);
  const Bytes letter = world.store().wait(fmt::format("letter/{}", world.rank()), deadline);
  say(fmt::format("rank {} got a letter: {}", world.rank(), text_of(letter)));
}

void describe_the_others(const cluster::World& world) {
  const cluster::Roster& roster = world.roster();
  say(fmt::format("{} ranks met in {}", world.size(), cluster::name_seconds(world.meeting_time())));
  say(fmt::format("started by {} as job {}", name_of(world.launcher()), world.job()));
  say(fmt::format("all have build {}", roster.member(0).build));
  for (const std::vector<int>& ranks : roster.hosts()) {
    say(fmt::format("host {} has {}", roster.member(ranks[0]).host_name,
                    cluster::name_ranks(ranks)));
  }
}

void run() {
  cluster::World world = cluster::World::join();
  const Deadline deadline = Deadline::after(10s);
  const cluster::Member& self = world.roster().member(world.rank());
  say(fmt::format("rank {} of {} is pid {} on {} with {} cores", world.rank(), world.size(),
                  self.pid, self.host_name, self.cores));
  greet(world, deadline);

  std::vector<int> sharing;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (world.shares_memory_with(rank)) sharing.push_back(rank);
  }
  say(fmt::format("rank {} shares memory with {}", world.rank(), cluster::name_ranks(sharing)));

  const comm::Group group = comm::connect(world);
  group.barrier({.label = "greeted", .deadline = deadline}).wait();
  if (world.rank() == 0) describe_the_others(world);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
