#include "trireme/model/llama/llama_config.h"

namespace trireme::model {
namespace {

std::string complaint_of_heads(const LlamaConfig& c) {
  if (c.width % c.heads != 0 || c.width / c.heads % 2 != 0) {
    return "width = " + std::to_string(c.width) +
           " cannot be shared by heads = " + std::to_string(c.heads) + " of an even width each";
  }
  if (c.heads % c.key_heads() != 0) {
    return "heads = " + std::to_string(c.heads) +
           " cannot share shared_heads = " + std::to_string(c.shared_heads);
  }
  if (c.rope_low_frequency >= c.rope_high_frequency) {
    return "rope_low_frequency has to be below rope_high_frequency";
  }
  return {};
}

}  // namespace

void LlamaConfig::describe(config::Fields<LlamaConfig>& f) {
  using T = LlamaConfig;
  f.add("vocabulary", &T::vocabulary)
      .range(0, 1 << 24)
      .unit("tokens")
      .help("distinct tokens; 0: as many as the data have");
  f.add("context", &T::context)
      .range(0, 1 << 24)
      .unit("tokens")
      .help("longest text it may look at; 0: as long as the data's samples");
  f.add("width", &T::width).range(2, 1 << 16).help("values that stand for a token");
  f.add("layers", &T::layers).range(1, 1024).help("pairs of attention and mlp");
  f.add("heads", &T::heads).range(1, 1024).help("heads of each attention");
  f.add("shared_heads", &T::shared_heads)
      .range(0, 1024)
      .help("heads of keys and values, each for several of the queries'; 0: as many as heads");
  f.add("hidden", &T::hidden)
      .range(0, 1 << 20)
      .help("neurons of each mlp; 0: 8/3 of the width, in multiples of 64");
  f.add("tied_head", &T::tied_head).help("the last layer uses the token table as its weight");
  f.add("norm_epsilon", &T::norm_epsilon)
      .range(0.0, 1.0)
      .help("added to mean squares, so that they are never zero");
  f.add("rope_base", &T::rope_base).range(1.0, 1e12).help("of the frequencies of positions");
  f.add("rope_scaling", &T::rope_scaling)
      .names({{"none", RopeScaling::None},
              {"linear", RopeScaling::Linear},
              {"llama3", RopeScaling::Llama3}})
      .help("how positions are stretched for longer texts");
  f.add("rope_factor", &T::rope_factor).range(1.0, 1e6).help("by how much they are stretched");
  f.add("rope_low_frequency", &T::rope_low_frequency)
      .range(0.0, 1e6)
      .help("llama3: slower ones (turns in the original context) are stretched in full");
  f.add("rope_high_frequency", &T::rope_high_frequency)
      .range(0.0, 1e6)
      .help("llama3: faster ones stay as they are");
  f.add("rope_original_context", &T::rope_original_context)
      .at_least(1)
      .unit("tokens")
      .help("llama3: the context before it was stretched");
  f.require(complaint_of_heads);
}

}  // namespace trireme::model
