#include "trireme/model/loss/multitask_loss.h"

#include <utility>

#include "trireme/base/check.h"

namespace trireme::model {
namespace {

std::int64_t outputs_before(const std::vector<data::TaskForm>& tasks, std::size_t task) {
  std::int64_t columns = 0;
  for (std::size_t i = 0; i < task; ++i) columns += tasks[i].outputs();
  return columns;
}

}  // namespace

at::Tensor head_of(const at::Tensor& output, const std::vector<data::TaskForm>& tasks,
                   std::size_t task) {
  return output.narrow(1, outputs_before(tasks, task), tasks[task].outputs());
}

at::Tensor task_loss(const data::TaskForm& task, const at::Tensor& said, const at::Tensor& target) {
  if (task.classes > 0) return CrossEntropy().sum(said, target.to(at::kLong));
  return MseLoss().sum(said.squeeze(1), target);
}

MultitaskLoss::MultitaskLoss(Options options) : options_(std::move(options)) {
  TRIREME_CHECK(options_.weights.empty() || options_.weights.size() == options_.tasks.size(),
                options_.weights.size(), " weights of ", options_.tasks.size(), " tasks");
}

at::Tensor MultitaskLoss::sum(const at::Tensor& output, const at::Tensor& target) const {
  const std::vector<data::TaskForm>& tasks = options_.tasks;
  const std::int64_t heads = outputs_before(tasks, tasks.size());
  at::Tensor all;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto task = static_cast<std::int64_t>(i);
    at::Tensor loss = task_loss(tasks[i], head_of(output, tasks, i), target.select(1, task));
    if (options_.is_learned) {
      // `s` is the same in every row.
      const at::Tensor s = output.select(1, heads + task).to(loss.scalar_type());
      loss = s.mean().neg().exp() * loss + s.sum();
    } else if (!options_.weights.empty()) {
      loss = loss * options_.weights[i];
    }
    all = all.defined() ? all + loss : loss;
  }
  return all;
}

}  // namespace trireme::model
