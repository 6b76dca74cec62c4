// TensorSource is a data set of tensors in memory: row i of x is the input of sample i, row i of y
// its target.
//
//   TensorSource source(x, y, {.classes = 10});   // x (N, ...), y (N, ...)
//
// Thread safety: any thread.
// Errors:        InvalidInput if the two have different numbers of rows, or a label is not in [0,
//                classes).
// Lifetime:      holds the tensors, or copies of them if they are strided or on another device.

#pragma once

#include <ATen/core/Tensor.h>

#include "trireme/data/source/source.h"

namespace trireme::data::memory {

class TensorSource final : public Source {
 public:
  struct Options {
    std::int64_t classes = 0;  // 0: the targets are numbers, or classes that need not be known
    std::vector<std::string> class_names = {};  // NOLINT(readability-redundant-member-init)
  };

  TensorSource(const at::Tensor& x, const at::Tensor& y, const Options& options);
  TensorSource(const at::Tensor& x, const at::Tensor& y) : TensorSource(x, y, Options()) {}

  std::int64_t count() const override { return x_.size(0); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  at::Tensor x_;
  at::Tensor y_;
  Form form_;
};

}  // namespace trireme::data::memory
