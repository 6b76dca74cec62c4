#include "trireme/model/multitask/multitask.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <string_view>

#include "trireme/base/error.h"
#include "trireme/model/cnn/cnn_blocks.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/loss/multitask_loss.h"
#include "trireme/model/mlp/mlp.h"

namespace trireme::model {
namespace {

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

}  // namespace

Multitask::Multitask(const MultitaskConfig& config, const data::Form& form)
    : config_(config), tasks_(form.tasks) {
  require_numbers("multitask", form);
  if (tasks_.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "multitask requires several targets per sample, and these data have one; set "
                "data.class_groups or data.input_mean, or for a table data.task = \"multitask\" "
                "and several "
                "data.targets; or use another model");
  }
  if (!config.weights.empty() && config.weights.size() != tasks_.size()) {
    throw Error(ErrorCode::InvalidInput,
                "model.weights has " + std::to_string(config.weights.size()) +
                    " numbers, and there are " + std::to_string(tasks_.size()) + " tasks");
  }
  std::int64_t inputs = form.input_count();
  int index = 0;
  const auto path = [&] { return "trunk." + std::to_string(index); };
  if (!config.channels.empty()) {
    FeatureSize size = image_size("multitask with channels", form);
    for (const std::int64_t channels : config.channels) {
      auto block = std::make_shared<PooledConvolution>(size, channels, config.kernel);
      size = block->out();
      add(path(), std::move(block));
      ++index;
    }
    inputs = pixels_left(size, config.channels.size());
  }
  for (const std::int64_t width : config.widths) {
    add(path(),
        std::make_shared<Dense>(Dense::Options{.linear = {.inputs = inputs, .outputs = width},
                                               .dropout = config.dropout,
                                               .index = index}));
    inputs = width;
    ++index;
  }
  add("heads",
      std::make_shared<TaskHeads>(inputs, tasks_, config.weighting == TaskWeighting::Uncertainty));
}

std::shared_ptr<const Loss> Multitask::own_loss() const {
  return std::make_shared<MultitaskLoss>(
      MultitaskLoss::Options{.tasks = tasks_,
                             .weights = config_.weights,
                             .is_learned = config_.weighting == TaskWeighting::Uncertainty});
}

Start Multitask::start_of(const std::string& name, const at::Tensor& parameter) const {
  // Every task has weight 1 at first.
  if (name.ends_with(kLogVariance)) return Start::constant(0);
  return BlockModel::start_of(name, parameter);
}

}  // namespace trireme::model
