// One program on several hosts: it is started as on one host, with --hosts in place of -n. Ranks of
// one host communicate through shared memory, ranks of different hosts over TCP; the program asks
// the group only if it wants to know.
//
//   build/trireme run --hosts node1:2,node2:2 build/examples/16_hosts
//   build/trireme run -n 4 build/examples/16_hosts
//
// Without a second host, a script that is used like ssh makes two hosts of this one:
//
//   build/trireme run --ssh tests/examples/this_machine.sh --hosts 127.0.0.2:2,127.0.0.3:2
//     build/examples/16_hosts

#include <torch/torch.h>

#include <cstdio>
#include <vector>

#include "trireme/comm/connect.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/replicas.h"

namespace {

namespace comm = trireme::comm;

// The ranks of this host as a group of their own.
comm::Group host_group(const comm::Group& group) {
  const std::vector<int> hosts = group.hosts();  // by rank: the number of its host
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (hosts[rank] == hosts[group.rank()]) ranks.push_back(rank);
  }
  return group.subgroup(ranks);
}

}  // namespace

int main() {
  auto world = trireme::cluster::World::join();
  auto group = comm::connect(world);
  auto host = host_group(group);

  torch::Tensor of_host = torch::ones({1});
  comm::all_reduce(host, of_host, comm::ReduceOp::Sum).wait();
  std::printf("rank %d of %d is rank %d of %d on host %d\n", group.rank(), group.size(),
              host.rank(), of_host.item<int>(), group.hosts()[group.rank()]);

  // Training needs nothing of that.
  torch::manual_seed(1);
  torch::nn::Linear net(1, 1);
  trireme::parallel::Replicas replicas(*net, group);
  torch::optim::Adam optimizer(net->parameters(), 0.05);
  const torch::Tensor all = torch::linspace(-1, 1, 64).unsqueeze(1);
  const torch::Tensor x = all.slice(0, group.rank(), 64, group.size());
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    torch::mse_loss(net->forward(x), x + 1).backward();
    optimizer.step();
  }
  if (group.rank() == 0) {
    std::printf("y = %.2f x + %.2f\n", net->weight.item<double>(), net->bias.item<double>());
  }
}
