// Local SGD: each rank trains by itself, and every eight steps the ranks average their weights. The
// first loop does this by hand, with any torch::optim optimizer; the second one lets a Learner do
// the same, where one setting is another strategy.
//
//   build/trireme run -n 2 build/examples/13_averaging

#include <torch/torch.h>

#include <cstdio>

#include "trireme/comm/connect.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/learner.h"

namespace {

using namespace trireme;

constexpr int kSteps = 160;
constexpr int kEvery = 8;

torch::nn::Linear new_net() {
  torch::manual_seed(1);
  return torch::nn::Linear(1, 1);
}

// Each rank has its own half of the points, so without averaging each learns another line.
torch::Tensor points_of(const comm::Group& group) {
  return torch::linspace(0, 1, 64).unsqueeze(1).chunk(group.size())[group.rank()];
}

torch::Tensor loss_of(torch::nn::Linear& net, const torch::Tensor& x) {
  return torch::mse_loss(net->forward(x), x.square());
}

void average(const comm::Group& group, const std::vector<torch::Tensor>& parameters) {
  for (const torch::Tensor& parameter : parameters) {
    comm::all_reduce(group, parameter.detach(), comm::ReduceOp::Mean).wait();
  }
}

void train_by_hand(torch::nn::Linear& net, const comm::Group& group) {
  torch::optim::SGD optimizer(net->parameters(), /*lr=*/0.1);
  for (int step = 1; step <= kSteps; ++step) {
    optimizer.zero_grad();
    loss_of(net, points_of(group)).backward();
    optimizer.step();
    if (step % kEvery == 0) average(group, net->parameters());
  }
}

void train_with_learner(torch::nn::Linear& net, const comm::Group& group) {
  parallel::Learner learner(*net, group,
                            {"sync.kind=local", "sync.steps=" + std::to_string(kEvery),
                             "optim.kind=sgd", "optim.lr=0.1", "optim.momentum=0"});
  for (int step = 1; step <= kSteps; ++step) {
    learner.step([&] { return loss_of(net, points_of(group)); });
  }
  learner.join();
}

void print(const char* how, torch::nn::Linear& net, const comm::Group& group) {
  std::printf("rank %d, %s: %.4f x + %.4f\n", group.rank(), how, net->weight.item<double>(),
              net->bias.item<double>());
}

}  // namespace

int main() {
  auto world = cluster::World::join();
  auto group = comm::connect(world);
  torch::nn::Linear first = new_net();
  train_by_hand(first, group);
  print("by hand", first, group);
  torch::nn::Linear second = new_net();
  train_with_learner(second, group);
  print("Learner", second, group);
}
