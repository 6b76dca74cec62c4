// KeyValueCache keeps the keys and values that attention computed for the tokens so far, or what a
// recurrent layer carries from token to token, so that generating the next token costs one token
// and not the whole text.
//
//   KeyValueCache cache({.layers = 12, .capacity = 1024});
//   context.cache = &cache;
//   model->forward(prompt, context);  // (B, T)
//   model->forward(next, context);    // (B, 1)
//
// Threads: one.
// Failure: Exhausted where the text grows past the capacity.

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

  // Tokens that every layer which keeps any has seen. The first layer to append decides where a
  // pass begins, so ask before it.
  std::int64_t length() const noexcept;

  // Adds keys and values (B, H, T, D) of a layer's new tokens; returns all of that layer's.
  std::pair<at::Tensor, at::Tensor> append(int layer, const at::Tensor& keys,
                                           const at::Tensor& values);

  // What a recurrent layer carries on; empty before its first token.
  std::vector<at::Tensor>& carried(int layer);

  // Forgets everything; keeps the memory.
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
