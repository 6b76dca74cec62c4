// LlamaConfig: the shape of a Llama and of its rotary positions.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/model/layer/rope.h"

namespace trireme::model {

struct LlamaConfig {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t shared_heads = 0;
  std::int64_t hidden = 0;
  bool tied_head = false;
  double norm_epsilon = 1e-5;
  double rope_base = 10000;
  RopeScaling rope_scaling = RopeScaling::None;
  double rope_factor = 8;
  double rope_low_frequency = 1;
  double rope_high_frequency = 4;
  std::int64_t rope_original_context = 8192;

  static void describe(config::Fields<LlamaConfig>& f);

  std::int64_t key_heads() const noexcept { return shared_heads ? shared_heads : heads; }
  // Two thirds of four widths, rounded up to a multiple of 64: the same number of weights as an mlp
  // of four widths.
  std::int64_t mlp_width() const noexcept {
    return hidden ? hidden : (8 * width / 3 + 63) / 64 * 64;
  }
  RopeOptions rope() const noexcept {
    return {.head_width = width / heads,
            .base = rope_base,
            .scaling = rope_scaling,
            .factor = rope_factor,
            .low_frequency = rope_low_frequency,
            .high_frequency = rope_high_frequency,
            .original_context = rope_original_context};
  }
};

}  // namespace trireme::model
