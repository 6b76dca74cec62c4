// Goal:   a program elsewhere links trireme::trireme and is one of many by three lines: connect,
// wrap,
//         step.
// Method: ranks learn from numbers of their own with torch's optimizer, and must end alike. Narrow
//         includes keep this test cheap.

#include <ATen/ops/full.h>
#include <ATen/ops/mse_loss.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include <cstdio>

#include "trireme/comm/connect.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/replicas.h"

int main() {
  auto world = trireme::cluster::World::join();
  const trireme::comm::Group group = trireme::comm::connect(world);
  torch::nn::Linear net(1, 1);
  trireme::parallel::Replicas replicas(*net, group);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 1000; ++step) {
    // Rank 0 sees x = 1, rank 1 sees x = 2: both are on y = 3 x - 1.
    const at::Tensor x = at::full({1, 1}, 1.0 + group.rank());
    optimizer.zero_grad();
    at::mse_loss(net->forward(x), 3 * x - 1).backward();
    optimizer.step();
  }
  const double slope = net->weight.item<double>();
  at::Tensor sum = net->weight.detach().clone();
  trireme::comm::all_reduce(group, sum, trireme::comm::ReduceOp::Sum).wait();
  const bool is_same =
      sum.item<float>() == net->weight.item<float>() * static_cast<float>(group.size());
  std::printf("rank %d of %d: slope %.1f, %s\n", group.rank(), group.size(), slope,
              is_same ? "the same everywhere" : "not the same");
  return is_same && slope > 2.5 && slope < 3.5 ? 0 : 1;
}
