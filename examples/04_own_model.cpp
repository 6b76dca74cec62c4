// A worker with a model of its own, any torch::nn::Module, which recipes can name as
// model.kind = "tower". `trireme` then trains, explains and evaluates it like the built-in models.
//
//   build/trireme train examples/04_own_model.toml --worker build/examples/04_own_model
//   build/trireme explain examples/04_own_model.toml --worker build/examples/04_own_model

#include <torch/torch.h>

#include "trireme/model/wrap.h"
#include "trireme/train/worker.h"

namespace {

struct TowerConfig {
  std::int64_t hidden_size = 64;
  std::int64_t floors = 3;

  static void describe(trireme::config::Fields<TowerConfig>& f) {
    f.add("hidden_size", &TowerConfig::hidden_size)
        .range(1, 4096)
        .help("hidden size of each floor");
    f.add("floors", &TowerConfig::floors).range(1, 64).help("floors, each adding to the one below");
  }
};

class Tower : public torch::nn::Module {
 public:
  Tower(const TowerConfig& config, const trireme::data::Form& form) {
    ground_ = register_module("ground", torch::nn::Linear(form.input_count(), config.hidden_size));
    for (std::int64_t i = 0; i < config.floors; ++i) {
      floors_.push_back(register_module("floor" + std::to_string(i),
                                        torch::nn::Linear(config.hidden_size, config.hidden_size)));
    }
    roof_ = register_module("roof", torch::nn::Linear(config.hidden_size, form.classes));
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor x = torch::relu(ground_(input.flatten(1)));
    for (auto& floor : floors_) x = x + torch::relu(floor(x));
    return roof_(x);
  }

 private:
  torch::nn::Linear ground_{nullptr};
  std::vector<torch::nn::Linear> floors_;
  torch::nn::Linear roof_{nullptr};
};

}  // namespace

int main(int argc, char** argv) {
  trireme::train::Kinds kinds = trireme::train::built_in_kinds();
  kinds.models.add<TowerConfig>(
      "tower", "floors that each add to the one below",
      [](const TowerConfig& config, const trireme::model::Facts& facts) {
        return trireme::model::wrap(
            std::make_shared<Tower>(config, facts.form),
            [](Tower& tower, const at::Tensor& input, const trireme::model::Context&) {
              return tower.forward(input);
            });
      });
  return trireme::train::run_worker(argc, argv, kinds);
}
