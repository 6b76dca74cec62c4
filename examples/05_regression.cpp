// A first program, on any number of ranks: learns y = x + 1 from 64 points. Every rank has its part
// of the points; rank 0 prints the same result on one rank and on many.
//
//   build/examples/05_regression                            one rank
//   build/trireme run -n 4 build/examples/05_regression     four ranks
//   mpirun -n 4 build/examples/05_regression                the same under Open MPI

#include <torch/torch.h>

#include <cstdio>

#include "trireme/comm/connect.h"
#include "trireme/parallel/replicas.h"

int main() {
  auto world = trireme::cluster::World::join();
  auto group = trireme::comm::connect(world);

  constexpr int kPoints = 64;
  const torch::Tensor all = torch::linspace(-1, 1, kPoints).unsqueeze(1);
  const torch::Tensor x = all.slice(0, group.rank(), kPoints, group.size());
  const torch::Tensor y = x + 1;

  torch::manual_seed(1);
  torch::nn::Linear net(1, 1);
  trireme::parallel::Replicas replicas(*net, group);
  torch::optim::Adam optimizer(net->parameters(), 0.05);

  for (int epoch = 1; epoch <= 100; ++epoch) {
    optimizer.zero_grad();
    const torch::Tensor loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();

    double mean = loss.item<double>();
    group.all_reduce({&mean, 1, trireme::comm::DType::Float64}, trireme::comm::ReduceOp::Mean)
        .wait();
    if (group.rank() == 0 && epoch % 20 == 0) {
      std::printf("epoch %3d: loss %.4f\n", epoch, mean);
    }
  }
}
