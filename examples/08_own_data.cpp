// A worker with a data source of its own: points on two spirals, which recipes can then name as
// data.kind = "spirals".
//
//   build/trireme train examples/08_own_data.toml --worker build/examples/08_own_data
//   build/trireme explain examples/08_own_data.toml --worker build/examples/08_own_data

#include <torch/torch.h>

#include <cmath>
#include <numbers>

#include "trireme/base/random.h"
#include "trireme/data/source/source.h"
#include "trireme/train/worker.h"

namespace {

using namespace trireme;

struct SpiralsConfig {
  std::int64_t count = 10000;
  double turns = 1.5;

  static void describe(config::Fields<SpiralsConfig>& f) {
    f.add("count", &SpiralsConfig::count)
        .range(1, 1'000'000'000)
        .unit("samples")
        .help("number of samples to train on; a tenth as many are used for evaluation");
    f.add("turns", &SpiralsConfig::turns).range(0.1, 10).help("turns of each spiral");
  }
};

// Sample i depends only on i, so that every rank and thread reads the same.
class Spirals final : public data::Source {
 public:
  Spirals(const SpiralsConfig& config, std::int64_t first, std::int64_t count)
      : turns_(config.turns), first_(first), count_(count) {}

  std::int64_t count() const override { return count_; }
  const data::Form& form() const override { return form_; }

  void read(std::int64_t sample, const data::SampleKey&, void* input, void* target) const override {
    Random random(/*seed=*/0, static_cast<std::uint64_t>(first_ + sample));
    const auto label = static_cast<std::int64_t>(random.below(2));
    const double radius = random.uniform_float();
    const double angle =
        2 * std::numbers::pi * turns_ * radius + std::numbers::pi * static_cast<double>(label);
    auto* const point = static_cast<float*>(input);
    point[0] = static_cast<float>(radius * std::cos(angle));
    point[1] = static_cast<float>(radius * std::sin(angle));
    *static_cast<std::int64_t*>(target) = label;
  }

 private:
  double turns_;
  std::int64_t first_;
  std::int64_t count_;
  data::Form form_{.input_sizes = {2}, .classes = 2, .class_names = {"inner", "outer"}};
};

data::Sets open_spirals(const SpiralsConfig& config) {
  const std::int64_t test_count = config.count / 10 + 1;
  return {.train = std::make_shared<Spirals>(config, 0, config.count),
          .test = std::make_shared<Spirals>(config, config.count, test_count)};
}

}  // namespace

int main(int argc, char** argv) {
  train::Kinds kinds = train::built_in_kinds();
  kinds.data.add<SpiralsConfig>("spirals", "points on two spirals", open_spirals);
  return train::run_worker(argc, argv, kinds);
}
