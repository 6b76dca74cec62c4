// KeyValueCache stores the keys and values of all tokens so far, or the state of recurrent layers,
// so that generating the next token costs one token instead of the whole text.
//
//   KeyValueCache cache({.layers = 12, .capacity = 1024});
//   context.cache = &cache;
//   model->forward(prompt, context);  // (B, T)
//   model->forward(next, context);    // (B, 1)
//
// Thread safety: one thread.
// Errors:        Exhausted if the text grows past the capacity.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace trireme::model {

class KeyValueCache {
 public:
  struct Options {
    int layers = 0;             // at most
    std::int64_t capacity = 0;  // tokens
  };

  explicit KeyValueCache(const Options& options);

  // Number of tokens that every layer in use has seen. The first layer that appends determines
  // where a pass begins, so call this before it.
  std::int64_t length() const noexcept;

  // Adds keys and values (B, H, T, D) of a layer's new tokens; returns all of that layer.
  std::pair<at::Tensor, at::Tensor> append(int layer, const at::Tensor& keys,
                                           const at::Tensor& values);

  // The state of a recurrent layer; empty before its first token.
  std::vector<at::Tensor>& carried(int layer);

  // Removes all tokens; keeps the memory.
  void clear() noexcept;

 private:
  struct Layer {
    at::Tensor keys, values;  // (B, H, capacity, D)
    std::int64_t length = 0;
    std::vector<at::Tensor> carried;
  };

  Layer& at(int layer);

  std::int64_t capacity_;
  std::vector<Layer> layers_;
};

}  // namespace trireme::model
