#include "trireme/parallel/data/model_buffers.h"

#include <c10/core/GradMode.h>

#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel::data {

void ModelBuffers::open() {
  first_.clear();
  last_.clear();
}
// Ranks that had not begun the step receive the values from its beginning. A rank that had begun
// takes part in the broadcast with a copy, because its own values already contain finished passes.
void ModelBuffers::begin_step(const comm::Group& group, bool is_kept) {
  if (!is_kept) first_.clear();
  const bool is_begun = !first_.empty();
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const at::Tensor values = is_begun ? first_[i].clone() : buffers_[i];
    comm::broadcast(group, values, 0, {.label = "buffers"}).wait();
  }
  if (options_.can_undo && !is_begun) keep();
}

void ModelBuffers::end_micro_batch() {
  if (options_.can_repeat) last_ = copied();
}

void ModelBuffers::broadcast(const comm::Group& group) const {
  for (const at::Tensor& buffer : buffers_) {
    comm::broadcast(group, buffer, 0, {.label = "buffers"}).wait();
  }
}

std::vector<at::Tensor> ModelBuffers::copied() const {
  std::vector<at::Tensor> values;
  for (const at::Tensor& buffer : buffers_) values.push_back(buffer.clone());
  return values;
}

void ModelBuffers::copy_back(const std::vector<at::Tensor>& values) {
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < values.size(); ++i) buffers_[i].copy_(values[i]);
}

}  // namespace trireme::parallel::data
