// ModelBuffers are a model's buffers, such as the running statistics of batch norm. Every step
// begins with rank 0's values on all ranks.
//
// A forward pass changes them, so a pass whose gradients are discarded must not count: where steps
// can be run again or ranks left out, the values from the beginning of the step and after the last
// finished micro-batch are kept.
//
// Errors:        what Group throws.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/comm/group.h"

namespace trireme::parallel::data {

class ModelBuffers {
 public:
  struct Options {
    bool can_undo = false;    // undo() and reopen() may be called
    bool can_repeat = false;  // steps may be run again with finished micro-batches
  };
  ModelBuffers(std::vector<at::Tensor> buffers, Options options)
      : buffers_(std::move(buffers)), options_(options) {}

  const std::vector<at::Tensor>& tensors() const noexcept { return buffers_; }

  // The step is begun for the first time: nothing of the last one is kept.
  void open();
  // The step is run again: back to the last finished micro-batch whose gradients are kept, if
  // `has_finished`, or to the beginning of the step.
  void reopen(bool has_finished) { copy_back(has_finished && !last_.empty() ? last_ : first_); }
  // Broadcasts rank 0's values as of the beginning of the step. A collective. `is_kept`: a repeated
  // step of which some rank keeps gradients.
  void begin_step(const comm::Group& group, bool is_kept);
  void end_micro_batch();
  // For strategies whose ranks do not begin with the same values: undo() goes back to these.
  void keep() { first_ = copied(); }
  // This rank's passes do not count. Nothing changes before the first step.
  void undo() { copy_back(first_); }
  // A collective: rank 0's values as they are now.
  void broadcast(const comm::Group& group) const;

 private:
  std::vector<at::Tensor> copied() const;
  void copy_back(const std::vector<at::Tensor>& values);

  std::vector<at::Tensor> buffers_;
  Options options_;
  std::vector<at::Tensor> first_;  // as they were when the step began
  std::vector<at::Tensor> last_;   // as they were after the last finished micro-batch
};

}  // namespace trireme::parallel::data
