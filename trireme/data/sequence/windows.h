// Windows turn a sequence of tokens into samples: sample i is the context + 1 tokens that begin at
// token i * stride. The first `context` of them are the input and the last `context` the target.
//
// Stride 1 uses every possible window for training; stride = context uses every token once for
// evaluation. Fewer than `context` tokens at the end may be part of no window.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>

namespace trireme::data::sequence {

constexpr std::int64_t count_windows(std::int64_t tokens, std::int64_t context,
                                     std::int64_t stride) noexcept {
  return tokens < context + 1 ? 0 : (tokens - context - 1) / stride + 1;
}

// Where the training part ends and the validation part begins: the floor of the product, as in
// nanoGPT.
constexpr std::int64_t split_at(std::int64_t tokens, double validation) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(tokens) * (1.0 - validation));
}

}  // namespace trireme::data::sequence
