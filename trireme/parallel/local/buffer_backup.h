// BufferBackup keeps a model's buffers as they were when a step began, because a step that runs
// again changes them again.
//
// Thread safety: one thread at a time.

#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace trireme::parallel::local {

class BufferBackup {
 public:
  explicit BufferBackup(std::vector<at::Tensor> buffers) : buffers_(std::move(buffers)) {}

  void keep() {
    kept_.clear();
    for (const at::Tensor& buffer : buffers_) kept_.push_back(buffer.clone());
  }
  // Does nothing before the first step.
  void put_back() const {
    for (std::size_t i = 0; i < kept_.size(); ++i) buffers_[i].copy_(kept_[i]);
  }

 private:
  std::vector<at::Tensor> buffers_;
  std::vector<at::Tensor> kept_;
};

}  // namespace trireme::parallel::local
