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
  std::int64_t num_kv_heads = 0;
  std::int64_t hidden = 0;
  bool tie_word_embeddings = false;
  double norm_eps = 1e-5;
  double rope_theta = 10000;
  RopeScaling rope_scaling = RopeScaling::None;
  double rope_factor = 8;
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  std::int64_t rope_original_max_seq_len = 8192;

  static void describe(config::Fields<LlamaConfig>& f);

  std::int64_t key_heads() const noexcept { return num_kv_heads ? num_kv_heads : heads; }
  // Two thirds of four widths, rounded up to a multiple of 64: the same number of weights as an mlp
  // of four widths.
  std::int64_t mlp_width() const noexcept {
    return hidden ? hidden : (8 * width / 3 + 63) / 64 * 64;
  }
  RopeOptions rope() const noexcept {
    return {.head_width = width / heads,
            .base = rope_theta,
            .scaling = rope_scaling,
            .factor = rope_factor,
            .low_frequency = rope_low_freq_factor,
            .high_frequency = rope_high_freq_factor,
            .original_context = rope_original_max_seq_len};
  }
};

}  // namespace trireme::model
