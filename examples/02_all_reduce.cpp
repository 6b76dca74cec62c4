// Computes the sum of a vector over all ranks; every rank receives the result.
//
//   build/trireme run -n 4 build/examples/02_all_reduce     four ranks
//   build/examples/02_all_reduce                            one rank: the sum is its own vector

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"

int main() {
  using namespace trireme;
  try {
    cluster::World world = cluster::World::join();
    const comm::Group group = comm::connect(world);

    std::vector<float> values{1.0f, static_cast<float>(group.rank()), 0.5f};
    const std::vector<float> before = values;
    group.all_reduce(comm::span(values), comm::ReduceOp::Sum).wait();

    fmt::print("rank {} of {} had {} and has {}\n", group.rank(), group.size(),
               fmt::join(before, " "), fmt::join(values, " "));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
