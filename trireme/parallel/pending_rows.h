// PendingRows are rows of tables' gradients that wait for the rest of the same gradient, to be
// added to it when it has come: a table of zeros around each of them is spared.
//
// Threads: the one that runs backward.

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

  // Adds this parameter's to the rest, and forgets them.
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
