// A synchronization strategy of your own: the gradient of each rank is clipped before the gradients
// are averaged, so that no rank can dominate a step. Without arguments, the program trains in its
// own loop; otherwise it is a worker, whose recipes can name the strategy.
//
//   build/trireme run -n 4 build/examples/07_own_strategy
//   build/trireme train recipes/synthetic_mlp.toml -n 2 --worker build/examples/07_own_strategy
//     sync.kind=clipped sync.max_norm=0.5

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "trireme/comm/connect.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/learner.h"
#include "trireme/parallel/single_rank.h"
#include "trireme/train/worker.h"

namespace {

using namespace trireme;
using namespace trireme::parallel;

struct ClippedConfig {
  double max_norm = 1;

  static void describe(config::Fields<ClippedConfig>& f) {
    f.add("max_norm", &ClippedConfig::max_norm).at_least(0.0).help("of the gradient of one rank");
  }
};

// SingleRank trains the model on this rank's micro-batches; only finish_reduction() and the commit
// communicate.
class Clipped final : public GradientSync {
 public:
  Clipped(const ClippedConfig& config, SyncOptions options)
      : group_(options.group),
        commit_({.group = options.group}),
        max_norm_(config.max_norm / group_.size()),
        own_({.parameters = std::move(options.parameters),
              .optimizer = std::move(options.optimizer),
              .can_update_early = false}) {}

  void begin_step(const StepPlan& plan) override {
    StepPlan own = plan;
    // SingleRank numbers the micro-batches of this rank from 0.
    own.micro_batch_count = static_cast<int>(plan.micro_batches.size());
    std::iota(own.micro_batches.begin(), own.micro_batches.end(), 0);
    own_.begin_step(own);
    commit_.begin(plan.step);
  }
  bool begin_micro_batch(std::size_t index) override { return own_.begin_micro_batch(index); }
  void end_micro_batch() override { own_.end_micro_batch(); }

  // The loss of a rank is divided by the size of the whole batch, so that the sum of the gradients
  // is their mean.
  void finish_reduction() override {
    const torch::NoGradGuard no_grad;
    own_.finish_reduction();
    const double scale = std::min(1.0, max_norm_ / std::sqrt(squared_norm()));
    for (const Parameter& parameter : own_.parameters()) {
      at::Tensor tensor = parameter.tensor;
      at::Tensor& gradient = tensor.mutable_grad();
      if (!gradient.defined()) gradient = torch::zeros_like(tensor);
      comm::all_reduce(group_, gradient.mul_(scale), comm::ReduceOp::Sum).wait();
    }
    // All ranks have the same sums: the first one contributes their norm.
    commit_.contribute({.squared_norm = group_.rank() == 0 ? squared_norm() : 0});
  }

  void update(const Update& how) override {
    own_.update(how);
    commit_.finish();
  }
  void drop() override {
    own_.drop();
    commit_.finish();
  }
  Roles roles() override { return {commit_, own_.model(), own_.saved()}; }

 private:
  double squared_norm() const {
    double sum = 0;
    for (const Parameter& parameter : own_.parameters()) {
      const at::Tensor gradient = parameter.tensor.grad();
      if (gradient.defined()) sum += gradient.square().sum().item<double>();
    }
    return sum;
  }

  comm::Group group_;
  StepCommit commit_;
  double max_norm_;
  SingleRank own_;
};

// With fp16, gradients are multiplied by the loss scale, which clipping would have to undo.
void add_clipped(Strategies& all) {
  all.add<ClippedConfig>({.name = "clipped",
                          .help = "the gradient of each rank is clipped before they are averaged",
                          .can = {.commits_every_step = true, .needs_unscaled_loss = true},
                          .make = [](const ClippedConfig& config, SyncOptions options) {
                            return std::make_shared<Clipped>(config, std::move(options));
                          }});
}

void train_in_own_loop(const Strategies& strategies) {
  auto world = cluster::World::join();
  auto group = comm::connect(world);
  constexpr int kPoints = 64;
  const torch::Tensor all = torch::linspace(-1, 1, kPoints).unsqueeze(1);
  const torch::Tensor x = all.slice(0, group.rank(), kPoints, group.size());
  torch::Tensor y = x + 1;
  if (group.rank() == 0) y[0] = 1000;  // one wrong sample

  torch::manual_seed(1);
  torch::nn::Linear net(1, 1);
  Learner learner(*net, group,
                  {"sync.kind=clipped", "sync.max_norm=0.1", "optim.kind=sgd", "optim.lr=0.5"},
                  /*steps=*/0, /*own_codec=*/nullptr, strategies);
  for (int epoch = 1; epoch <= 200; ++epoch) {
    learner.step([&] { return torch::mse_loss(net->forward(x), y); });
  }
  learner.join();
  if (group.rank() == 0) std::printf("slope %.1f\n", net->weight.item<double>());
}

}  // namespace

int main(int argc, char** argv) {
  train::Kinds kinds = train::built_in_kinds();
  add_clipped(kinds.strategies);
  if (argc > 1) return train::run_worker(argc, argv, kinds);
  train_in_own_loop(kinds.strategies);
}
