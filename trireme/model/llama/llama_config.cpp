#include "trireme/model/llama/llama_config.h"

namespace trireme::model {
namespace {

std::string complaint_of_heads(const LlamaConfig& c) {
  if (c.width % c.heads != 0 || c.width / c.heads % 2 != 0) {
    return "hidden_size = " + std::to_string(c.width) +
           " is not divisible into num_heads = " + std::to_string(c.heads) +
           " of an even size each";
  }
  if (c.heads % c.key_heads() != 0) {
    return "num_heads = " + std::to_string(c.heads) +
           " is not divisible by num_kv_heads = " + std::to_string(c.num_kv_heads);
  }
  if (c.rope_low_freq_factor >= c.rope_high_freq_factor) {
    return "rope_low_freq_factor must be below rope_high_freq_factor";
  }
  return {};
}

}  // namespace

void LlamaConfig::describe(config::Fields<LlamaConfig>& f) {
  using T = LlamaConfig;
  f.add("vocab_size", &T::vocabulary)
      .synonyms({"vocabulary", "n_vocab"})
      .range(0, 1 << 24)
      .unit("tokens")
      .help("vocabulary size; 0: that of the data");
  f.add("max_seq_len", &T::context)
      .synonyms({"context", "block_size", "context_length", "max_position_embeddings"})
      .range(0, 1 << 24)
      .unit("tokens")
      .help("maximum sequence length; 0: that of the data's samples");
  f.add("hidden_size", &T::width)
      .synonyms({"width", "n_embd", "d_model", "dim"})
      .range(2, 1 << 16)
      .help("embedding dimension");
  f.add("num_layers", &T::layers)
      .synonyms({"layers", "n_layer", "n_layers", "num_hidden_layers"})
      .range(1, 1024)
      .help("number of transformer layers");
  f.add("num_heads", &T::heads)
      .synonyms({"heads", "n_head", "n_heads", "num_attention_heads"})
      .range(1, 1024)
      .help("number of attention heads");
  f.add("num_kv_heads", &T::num_kv_heads)
      .synonyms({"n_kv_heads", "num_key_value_heads"})
      .range(0, 1024)
      .help("number of key/value heads (grouped-query attention); 0: the same as num_heads");
  f.add("intermediate_size", &T::hidden)
      .synonyms({"hidden", "ffn_dim", "hidden_dim"})
      .range(0, 1 << 20)
      .help("hidden size of each mlp; 0: 8/3 of hidden_size, rounded up to a multiple of 64");
  f.add("tie_word_embeddings", &T::tie_word_embeddings)
      .help("tie the output layer's weight to the token embedding");
  f.add("norm_eps", &T::norm_eps)
      .synonyms({"rms_norm_eps"})
      .range(0.0, 1.0)
      .help("epsilon of the RMS norms");
  f.add("rope_theta", &T::rope_theta)
      .synonyms({"rope_base"})
      .range(1.0, 1e12)
      .help("base of the rotary position frequencies (rope_theta)");
  f.add("rope_scaling", &T::rope_scaling)
      .names({{"none", RopeScaling::None},
              {"linear", RopeScaling::Linear},
              {"llama3", RopeScaling::Llama3}})
      .help("scaling of rotary positions for longer sequences");
  f.add("rope_factor", &T::rope_factor).range(1.0, 1e6).help("factor of the scaling");
  f.add("rope_low_freq_factor", &T::rope_low_freq_factor)
      .range(0.0, 1e6)
      .help(
          "llama3: below this frequency (rotations within the original context) the full factor "
          "applies");
  f.add("rope_high_freq_factor", &T::rope_high_freq_factor)
      .range(0.0, 1e6)
      .help("llama3: above this frequency positions are not scaled");
  f.add("rope_original_max_seq_len", &T::rope_original_max_seq_len)
      .at_least(1)
      .unit("tokens")
      .help("llama3: maximum sequence length before the scaling");
  f.require(complaint_of_heads);
}

}  // namespace trireme::model
