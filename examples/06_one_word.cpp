// The regression of 05, with one argument that selects the gradient synchronization strategy:
//
//   build/trireme run -n 4 build/examples/06_one_word all_reduce
//   build/trireme run -n 4 build/examples/06_one_word shared
//   build/trireme run -n 4 build/examples/06_one_word local      weights averaged every 16 steps
//   build/trireme run -n 4 build/examples/06_one_word top_k      1 % of the gradients are sent

#include <torch/torch.h>

#include <cstdio>

#include "trireme/comm/connect.h"
#include "trireme/parallel/learner.h"

int main(int count, char** words) {
  auto world = trireme::cluster::World::join();
  auto group = trireme::comm::connect(world);
  const std::string word = count > 1 ? words[1] : "all_reduce";
  const std::string how = (word == "top_k" ? "sync.codec.kind=" : "sync.kind=") + word;

  constexpr int kPoints = 64;
  const torch::Tensor all = torch::linspace(-1, 1, kPoints).unsqueeze(1);
  const torch::Tensor x = all.slice(0, group.rank(), kPoints, group.size());
  const torch::Tensor y = x + 1;

  torch::manual_seed(1);
  torch::nn::Linear net(1, 1);
  trireme::parallel::Learner learner(*net, group, {how, "optim.kind=adam", "optim.lr=0.05"});
  for (int epoch = 1; epoch <= 100; ++epoch) {
    const double loss = learner.step([&] { return torch::mse_loss(net->forward(x), y); });
    if (group.rank() == 0 && epoch % 20 == 0) std::printf("epoch %3d: loss %.4f\n", epoch, loss);
  }
  learner.join();
}
