// Adapter changes what a layer computes without changing the layer: LoRA adds the product of two
// small matrices, tensor parallelism communicates before or after it. A layer has an ordered list
// of them.
//
//   at::Tensor forward(const Linear& layer, const at::Tensor& x, const Context& context,
//                      const Next& next) override {
//     return next(x) + correction(x);
//   }
//
// Order:         the first adapter is the outermost. It receives the input of the layer, and `next`
//                runs the other adapters and then the layer's own computation.
// Thread safety: as the layer's forward.
// Lifetime:      a layer shares ownership of its adapters.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

#include "trireme/model/context.h"

namespace trireme::model {

// REQUIRES of a layer: `adapters`, the list, and `compute(x, context)`, its own computation.
template <class Layer>
class Adapter {
 public:
  // The layer from one position of its list on.
  class Next {
   public:
    Next(const Layer& layer, const Context& context, std::size_t index = 0)
        : layer_(layer), context_(context), index_(index) {}

    at::Tensor operator()(const at::Tensor& x) const {
      if (index_ == layer_.adapters.size()) return layer_.compute(x, context_);
      const Next next(layer_, context_, index_ + 1);
      return layer_.adapters[index_]->forward(layer_, x, context_, next);
    }

   private:
    const Layer& layer_;
    const Context& context_;
    std::size_t index_;
  };

  virtual ~Adapter() = default;
  // `x` is what the layer's forward takes, and the result is what it returns.
  virtual at::Tensor forward(const Layer& layer, const at::Tensor& x, const Context& context,
                             const Next& next) = 0;
};

}  // namespace trireme::model
