// A worker with a loss of its own, which recipes can name as loss.kind = "quantile". A model that
// minimizes it predicts a number that is above the target in that share of the cases: 0.9 for an
// estimate that is rarely too low.
//
//   build/trireme train examples/10_own_loss.toml --worker build/examples/10_own_loss
//   build/trireme explain examples/10_own_loss.toml --worker build/examples/10_own_loss
//
// In a training loop of your own no such class is needed: any tensor is a loss.

#include <torch/torch.h>

#include "trireme/model/loss/loss.h"
#include "trireme/train/worker.h"

namespace {

using namespace trireme;

struct QuantileConfig {
  double quantile = 0.9;

  static void describe(config::Fields<QuantileConfig>& f) {
    f.add("quantile", &QuantileConfig::quantile)
        .range(0.01, 0.99)
        .help("share of the targets that are below the prediction");
  }
};

// The sum over samples: Trireme divides it by their number in the global batch, so that the
// gradients of all ranks and micro-batches add up to that of the mean.
class QuantileLoss final : public model::Loss {
 public:
  explicit QuantileLoss(double quantile) : quantile_(quantile) {}

  torch::Tensor sum(const torch::Tensor& output, const torch::Tensor& target) const override {
    const torch::Tensor error = target.view_as(output) - output.to(torch::kFloat);
    return torch::max(quantile_ * error, (quantile_ - 1) * error).sum();
  }

 private:
  double quantile_;
};

}  // namespace

int main(int argc, char** argv) {
  train::Kinds kinds = train::built_in_kinds();
  kinds.losses.add<QuantileConfig>("quantile", "the quantile (pinball) loss, for numbers",
                                   [](const QuantileConfig& config, const data::Form&) {
                                     return std::make_shared<QuantileLoss>(config.quantile);
                                   });
  return train::run_worker(argc, argv, kinds);
}
