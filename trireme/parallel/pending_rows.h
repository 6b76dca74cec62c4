// PendingRows holds rows of embedding gradients until the rest of the same gradient arrives, and
// then adds them to it. This avoids a dense gradient that is zero except for these rows.
//
// Thread safety: the thread that runs backward.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace trireme::parallel {

class PendingRows {
 public:
  void add(std::size_t parameter, at::Tensor rows, at::Tensor values) {
    all_.push_back({parameter, std::move(rows), std::move(values)});
  }

  // Adds this parameter's rows to the rest of its gradient, and removes them.
  void flush(std::size_t parameter, const at::Tensor& rest) {
    std::erase_if(all_, [&](const Rows& one) {
      if (one.parameter == parameter) rest.index_add_(0, one.rows, one.values);
      return one.parameter == parameter;
    });
  }

  void clear() { all_.clear(); }

 private:
  struct Rows {
    std::size_t parameter;
    at::Tensor rows, values;
  };
  std::vector<Rows> all_;
};

}  // namespace trireme::parallel
