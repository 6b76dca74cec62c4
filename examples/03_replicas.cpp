// Turns a LibTorch program for one process into a data-parallel one with three lines: join, connect
// and wrap.
//
//   build/trireme run -n 4 build/examples/03_replicas

#include <torch/torch.h>

#include <cstdio>

#include "trireme/comm/connect.h"
#include "trireme/parallel/replicas.h"

int main() {
  auto world = trireme::cluster::World::join();
  auto group = trireme::comm::connect(world);

  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(2, 32), torch::nn::Tanh(), torch::nn::Linear(32, 1));
  trireme::parallel::Replicas replicas(*net, group);
  torch::optim::Adam optimizer(net->parameters(), 0.01);

  // Each rank draws its own points; together the ranks learn x * y.
  torch::manual_seed(100 + group.rank());
  double first = 0;
  double last = 0;
  for (int step = 0; step < 300; ++step) {
    const torch::Tensor points = torch::rand({64, 2}) * 2 - 1;
    const torch::Tensor truth = points.prod(1, true);
    optimizer.zero_grad();
    const torch::Tensor loss = torch::mse_loss(net->forward(points), truth);
    loss.backward();
    optimizer.step();
    if (step == 0) first = loss.item<double>();
    last = loss.item<double>();
  }
  const bool has_learned = last < first / 10;
  double weights = 0;
  for (const torch::Tensor& parameter : net->parameters()) {
    weights += parameter.abs().sum().item<double>();
  }
  double most = weights;
  group.all_reduce({&most, 1, trireme::comm::DType::Float64}, trireme::comm::ReduceOp::Max).wait();
  std::printf("rank %d of %d: %s, weights %s\n", group.rank(), group.size(),
              has_learned ? "learned" : "did not learn",
              most == weights ? "equal everywhere" : "differ");
  return has_learned && most == weights ? 0 : 1;
}
