// Embedding looks up rows of a table, with adapters (adapter.h).
//
// Thread safety: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "trireme/model/context.h"
#include "trireme/model/layer/adapter.h"

namespace trireme::model {

class Embedding : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t rows = 1;
    std::int64_t width = 1;
  };

  explicit Embedding(const Options& options);

  // tokens: int64 (...); returns (..., width).
  at::Tensor forward(const at::Tensor& tokens, const Context& context) const {
    return Adapter<Embedding>::Next(*this, context)(tokens);
  }
  // The same without adapters.
  at::Tensor compute(const at::Tensor& tokens, const Context& context) const;

  at::Tensor weight;  // (rows, width)
  std::vector<std::shared_ptr<Adapter<Embedding>>> adapters;
};

}  // namespace trireme::model
