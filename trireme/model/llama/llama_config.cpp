#include "trireme/model/llama/llama_config.h"

namespace trireme::model {
namespace {

std::string complaint_of_heads(const LlamaConfig& c) {
  if (c.width % c.heads != 0 || c.width / c.heads % 2 != 0) {
    return "width = " + std::to_string(c.width) +
           " is not divisible into heads = " + std::to_string(c.heads) + " of an even width each";
  }
  if (c.heads % c.key_heads() != 0) {
    return "heads = " + std::to_string(c.heads) +
           " is not divisible by shared_heads = " + std::to_string(c.shared_heads);
  }
  if (c.rope_low_frequency >= c.rope_high_frequency) {
    return "rope_low_frequency must be below rope_high_frequency";
  }
  return {};
}

}  // namespace

void LlamaConfig::describe(config::Fields<LlamaConfig>& f) {
  using T = LlamaConfig;
  f.add("vocabulary", &T::vocabulary)
      .range(0, 1 << 24)
      .unit("tokens")
      .help("vocabulary size; 0: that of the data");
  f.add("context", &T::context)
      .range(0, 1 << 24)
      .unit("tokens")
      .help("maximum sequence length; 0: that of the data's samples");
  f.add("width", &T::width).range(2, 1 << 16).help("embedding dimension");
  f.add("layers", &T::layers).range(1, 1024).help("number of transformer layers");
  f.add("heads", &T::heads).range(1, 1024).help("number of attention heads");
  f.add("shared_heads", &T::shared_heads)
      .range(0, 1024)
      .help("number of key/value heads (grouped-query attention); 0: the same as heads");
  f.add("hidden", &T::hidden)
      .range(0, 1 << 20)
      .help("hidden size of each mlp; 0: 8/3 of the width, rounded up to a multiple of 64");
  f.add("tied_head", &T::tied_head).help("tie the output layer's weight to the token embedding");
  f.add("norm_epsilon", &T::norm_epsilon).range(0.0, 1.0).help("epsilon of the RMS norms");
  f.add("rope_base", &T::rope_base)
      .range(1.0, 1e12)
      .help("base of the rotary position frequencies (rope_theta)");
  f.add("rope_scaling", &T::rope_scaling)
      .names({{"none", RopeScaling::None},
              {"linear", RopeScaling::Linear},
              {"llama3", RopeScaling::Llama3}})
      .help("scaling of rotary positions for longer sequences");
  f.add("rope_factor", &T::rope_factor).range(1.0, 1e6).help("factor of the scaling");
  f.add("rope_low_frequency", &T::rope_low_frequency)
      .range(0.0, 1e6)
      .help(
          "llama3: below this frequency (rotations within the original context) the full factor "
          "applies");
  f.add("rope_high_frequency", &T::rope_high_frequency)
      .range(0.0, 1e6)
      .help("llama3: above this frequency positions are not scaled");
  f.add("rope_original_context", &T::rope_original_context)
      .at_least(1)
      .unit("tokens")
      .help("llama3: maximum sequence length before the scaling");
  f.require(complaint_of_heads);
}

}  // namespace trireme::model
