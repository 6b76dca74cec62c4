// An optimizer of your own, Signum: each weight moves by the learning rate, in the direction of the
// sign of a running mean of its gradients. With Replicas any torch::optim::Optimizer works on
// several ranks, because every rank has the mean of all ranks' gradients when it steps.
//
//   build/trireme run -n 2 build/examples/11_own_optimizer

#include <torch/torch.h>

#include <cstdio>

#include "trireme/comm/connect.h"
#include "trireme/parallel/replicas.h"

namespace {

struct SignumOptions : torch::optim::OptimizerCloneableOptions<SignumOptions> {
  explicit SignumOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0.9;

 public:
  double get_lr() const override { return lr(); }
  void set_lr(double value) override { lr(value); }
};

class Signum : public torch::optim::Optimizer {
 public:
  Signum(const std::vector<torch::Tensor>& parameters, const SignumOptions& options)
      : Optimizer(parameters, std::make_unique<SignumOptions>(options)), options_(options) {
    for (const torch::Tensor& parameter : parameters) means_.push_back(zeros_like(parameter));
  }

  torch::Tensor step(LossClosure closure = nullptr) override {
    const torch::Tensor loss = closure ? closure() : torch::Tensor();
    const torch::NoGradGuard no_grad;
    const double lr = param_groups()[0].options().get_lr();
    for (std::size_t i = 0; i < means_.size(); ++i) {
      torch::Tensor& parameter = param_groups()[0].params()[i];
      if (!parameter.grad().defined()) continue;
      means_[i].lerp_(parameter.grad(), 1 - options_.momentum());
      parameter.sub_(means_[i].sign(), lr);
    }
    return loss;
  }

 private:
  SignumOptions options_;
  std::vector<torch::Tensor> means_;
};

}  // namespace

int main() {
  auto world = trireme::cluster::World::join();
  auto group = trireme::comm::connect(world);

  constexpr int kPoints = 64;
  const torch::Tensor all = torch::linspace(-1, 1, kPoints).unsqueeze(1);
  const torch::Tensor x = all.slice(0, group.rank(), kPoints, group.size());
  const torch::Tensor y = 2 * x + 1;

  torch::manual_seed(1);
  torch::nn::Linear net(1, 1);
  trireme::parallel::Replicas replicas(*net, group);
  Signum optimizer(net->parameters(), SignumOptions(0.1));
  torch::optim::StepLR schedule(optimizer, /*step_size=*/50, /*gamma=*/0.1);

  for (int epoch = 1; epoch <= 150; ++epoch) {
    optimizer.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    optimizer.step();
    schedule.step();
  }
  std::printf("rank %d learned y = %.2f x + %.2f\n", group.rank(), net->weight.item<double>(),
              net->bias.item<double>());
}
