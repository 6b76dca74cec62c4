// Multitask is a trunk of convolutions and fully connected layers that several tasks share, with
// one head per task. It has its own loss: see MultitaskLoss.
//
// Output: (B, columns): the heads side by side; with learned weights, one more column s per task.
// Names:  trunk.0.weight, trunk.0.bias ... heads.class.weight ... heads.log_variance
// Errors: InvalidInput if the data have only one task, if samples are not numbers, or if there are
//         convolutions but samples are not images.

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/base/error.h"
#include "trireme/model/block_model.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/loss/multitask_loss.h"
#include "trireme/model/registry.h"
#include "trireme/model/simple_blocks.h"

namespace trireme::model {
namespace {

enum class TaskWeighting {
  Fixed,        // set in the recipe
  Uncertainty,  // learned: Kendall, Gal and Cipolla, 2018
};

struct MultitaskConfig {
  std::vector<std::int64_t> channels = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t kernel = 5;
  std::vector<std::int64_t> widths = {128};
  double dropout = 0;
  TaskWeighting weighting = TaskWeighting::Fixed;
  std::vector<double> weights = {};  // NOLINT(readability-redundant-member-init)

  static void describe(config::Fields<MultitaskConfig>& f) {
    using T = MultitaskConfig;
    f.add("channels", &T::channels)
        .range(1, 1 << 16)
        .help("channels of each convolution of the trunk, first to last; each halves the image");
    f.add("kernel_size", &T::kernel)
        .range(1, 31)
        .check(mistake_in_kernel_size)
        .unit("pixels")
        .help("kernel size of the convolutions");
    f.add("hidden_sizes", &T::widths)
        .range(1, 1 << 20)
        .help("hidden sizes of the trunk's fully connected layers, after its convolutions");
    f.add("dropout", &T::dropout).range(0.0, 0.99).help("dropout probability of these layers");
    f.add("weighting", &T::weighting)
        .names({{"fixed", TaskWeighting::Fixed}, {"uncertainty", TaskWeighting::Uncertainty}})
        .help(
            "how task losses are weighted: fixed weights, or weights learned from each task's "
            "uncertainty");
    f.add("weights", &T::weights)
        .at_least(0.0)
        .help("weight of each task's loss if weighting is fixed; empty: 1");
    f.require([](const T& c) {
      return c.weighting == TaskWeighting::Uncertainty && !c.weights.empty()
                 ? std::string("weights require weighting = \"fixed\"")
                 : std::string();
    });
  }
};

constexpr std::string_view kLogVariance = "log_variance";

// Linear layers in parallel, each with all features of the trunk.
class TaskHeads final : public Block {
 public:
  TaskHeads(std::int64_t inputs, const std::vector<data::TaskForm>& tasks, bool is_learned) {
    for (const data::TaskForm& task : tasks) {
      heads_.push_back(register_module(
          task.name,
          std::make_shared<Linear>(Linear::Options{.inputs = inputs, .outputs = task.outputs()})));
    }
    if (!is_learned) return;
    log_variance_ = register_parameter(std::string(kLogVariance), at::zeros({std::ssize(tasks)}));
  }

  Activations forward(Activations in, const Context& context) override {
    const at::Tensor features = in.main.flatten(1);
    std::vector<at::Tensor> columns;
    // The heads have autocast's type, the variances do not.
    for (const auto& head : heads_) {
      columns.push_back(head->forward(features, context).to(type_of_weights()));
    }
    if (log_variance_.defined()) {
      columns.push_back(log_variance_.unsqueeze(0).expand({features.size(0), -1}));
    }
    in.main = at::cat(columns, 1);
    return in;
  }

 private:
  at::ScalarType type_of_weights() const { return heads_.front()->weight.scalar_type(); }

  std::vector<std::shared_ptr<Linear>> heads_;
  at::Tensor log_variance_;  // undefined if weights are fixed
};

class Multitask final : public BlockModel {
 public:
  Multitask(const MultitaskConfig& config, const data::Form& form)
      : config_(config), tasks_(form.tasks) {
    check(form);
    const std::int64_t features = add_trunk(form);
    add("heads", std::make_shared<TaskHeads>(features, tasks_, is_learned()));
  }

  std::shared_ptr<const Loss> own_loss() const override {
    return std::make_shared<MultitaskLoss>(MultitaskLoss::Options{
        .tasks = tasks_, .weights = config_.weights, .is_learned = is_learned()});
  }

  Start start_of(const std::string& name, const at::Tensor& parameter) const override {
    // Every task has weight 1 at first.
    if (name.ends_with(kLogVariance)) return Start::constant(0);
    return BlockModel::start_of(name, parameter);
  }

 private:
  bool is_learned() const noexcept { return config_.weighting == TaskWeighting::Uncertainty; }

  void check(const data::Form& form) const {
    require_numbers("multitask", form);
    if (tasks_.empty()) {
      throw Error(ErrorCode::InvalidInput,
                  "multitask requires several targets per sample, and these data have one; set "
                  "data.class_groups or data.input_mean, or for a table data.task = \"multitask\" "
                  "and several "
                  "data.targets; or use another model");
    }
    if (!config_.weights.empty() && config_.weights.size() != tasks_.size()) {
      throw Error(ErrorCode::InvalidInput,
                  "model.weights has " + std::to_string(config_.weights.size()) +
                      " numbers, and there are " + std::to_string(tasks_.size()) + " tasks");
    }
  }

  // Returns the number of features that the heads get.
  std::int64_t add_trunk(const data::Form& form) {
    std::int64_t inputs = form.input_count();
    int index = 0;
    const auto path = [&] { return "trunk." + std::to_string(index); };
    if (!config_.channels.empty()) {
      FeatureSize size = image_size("multitask with channels", form);
      for (const std::int64_t channels : config_.channels) {
        auto block = std::make_shared<PooledConvolution>(size, channels, config_.kernel);
        size = block->out();
        add(path(), std::move(block));
        ++index;
      }
      inputs = pixels_left(size, config_.channels.size());
    }
    for (const std::int64_t width : config_.widths) {
      add(path(),
          std::make_shared<Dense>(Dense::Options{
              .inputs = inputs, .outputs = width, .dropout = config_.dropout, .index = index}));
      inputs = width;
      ++index;
    }
    return inputs;
  }

  MultitaskConfig config_;
  std::vector<data::TaskForm> tasks_;
};

}  // namespace

void add_multitask(ModelRegistry& registry) {
  registry.add<MultitaskConfig, Multitask>("multitask",
                                           "a shared trunk with one head and one loss per task");
}

}  // namespace trireme::model
