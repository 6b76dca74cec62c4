// Windows are how a sequence of tokens becomes samples: sample i is context + 1 tokens from token
// i * stride on, of which the first `context` are the input and the last `context` the target.
//
// Stride 1 gives training every window there is; stride = context gives evaluation every token
// once. Fewer than `context` tokens at the end may be part of no window.
//
// Threads: pure.

#pragma once

#include <cstdint>

namespace trireme::data::sequence {

constexpr std::int64_t count_windows(std::int64_t tokens, std::int64_t context,
                                     std::int64_t stride) noexcept {
  return tokens < context + 1 ? 0 : (tokens - context - 1) / stride + 1;
}

// Where training ends and validation begins: nanoGPT's floor of the product.
constexpr std::int64_t split_at(std::int64_t tokens, double validation) noexcept {
  return static_cast<std::int64_t>(static_cast<double>(tokens) * (1.0 - validation));
}

}  // namespace trireme::data::sequence
