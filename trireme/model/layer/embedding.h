// Embedding looks up rows of a table, with adapters (adapter.h).
//
// Thread safety: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <cstdint>
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

// The positions in their texts of tokens (B, T), also if the texts continue those in the cache.
// Throws InvalidInput if a text is longer than `context_max` tokens.
at::Tensor positions_of(const at::Tensor& tokens, const Context& context, std::int64_t context_max);

}  // namespace trireme::model
