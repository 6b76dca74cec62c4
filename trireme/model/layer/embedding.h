// Embedding looks up rows of a table, with an extension point: if a strategy is attached, it does
// the lookup instead (a vocabulary sharded over ranks).
//
// Thread safety: as torch::nn::Module.
// Lifetime:      the layer shares ownership of its strategy.

#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "trireme/model/context.h"

namespace trireme::model {

class Embedding;

class EmbeddingStrategy {
 public:
  virtual ~EmbeddingStrategy() = default;
  // tokens: int64 (...); returns (..., width).
  virtual at::Tensor forward(const Embedding& layer, const at::Tensor& tokens,
                             const Context& context) = 0;
};

class Embedding : public torch::nn::Module {
 public:
  struct Options {
    std::int64_t rows = 1;
    std::int64_t width = 1;
  };

  explicit Embedding(const Options& options);

  at::Tensor forward(const at::Tensor& tokens, const Context& context) const;

  at::Tensor weight;  // (rows, width)
  std::shared_ptr<EmbeddingStrategy> strategy;
};

}  // namespace trireme::model
