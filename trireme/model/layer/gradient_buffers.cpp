#include "trireme/model/layer/gradient_buffers.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/graph_task.h>

namespace trireme::model {
namespace {

constexpr std::int64_t kElementsMin = 1 << 15;

}  // namespace

bool is_accumulating() {
  const auto* only = torch::autograd::get_current_graph_task_exec_info();
  return !c10::GradMode::is_enabled() && (only == nullptr || only->empty());
}

c10::intrusive_ptr<HomesHolder> homes_for(const at::Tensor& weight, const Context& context) {
  const bool is_worth_it = context.homes != nullptr && c10::GradMode::is_enabled() &&
                           weight.requires_grad() && weight.numel() >= kElementsMin;
  return is_worth_it ? c10::make_intrusive<HomesHolder>(context.homes) : nullptr;
}

}  // namespace trireme::model
