#include "trireme/model/hugging_face_config.h"

#include <nlohmann/json.hpp>

#include "trireme/model/kind/gpt.h"
#include "trireme/model/kind/llama.h"

namespace trireme::model {
namespace {

using Json = nlohmann::json;

Json json_of(const GptConfig& c) {
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"vocab_size", c.vocabulary},
          {"n_positions", c.context},
          {"n_embd", c.width},
          {"n_layer", c.layers},
          {"n_head", c.heads},
          {"n_inner", nullptr},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", c.norm_eps},
          {"embd_pdrop", c.dropout},
          {"resid_pdrop", c.dropout},
          {"attn_pdrop", c.attention_dropout},
          {"scale_attn_weights", true},
          {"tie_word_embeddings", c.tie_word_embeddings}};
}

Json rope_scaling_of(const LlamaConfig& c) {
  if (c.rope_scaling == RopeScaling::None) return nullptr;
  const bool is_llama3 = c.rope_scaling == RopeScaling::Llama3;
  Json json{{"rope_type", is_llama3 ? "llama3" : "linear"}, {"factor", c.rope_factor}};
  if (is_llama3) {
    json["low_freq_factor"] = c.rope_low_freq_factor;
    json["high_freq_factor"] = c.rope_high_freq_factor;
    json["original_max_position_embeddings"] = c.rope_original_max_seq_len;
  }
  return json;
}

Json json_of(const LlamaConfig& c) {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"vocab_size", c.vocabulary},
          {"max_position_embeddings", c.context},
          {"hidden_size", c.width},
          {"num_hidden_layers", c.layers},
          {"num_attention_heads", c.heads},
          {"num_key_value_heads", c.key_heads()},
          {"head_dim", c.width / c.heads},
          {"intermediate_size", c.mlp_width()},
          {"hidden_act", "silu"},
          {"rms_norm_eps", c.norm_eps},
          {"rope_theta", c.rope_theta},
          {"rope_scaling", rope_scaling_of(c)},
          {"attention_bias", false},
          {"mlp_bias", false},
          {"tie_word_embeddings", c.tie_word_embeddings}};
}

}  // namespace

std::optional<std::string> hugging_face_config_of(const Model& model,
                                                  const HuggingFaceTokens& tokens) {
  Json json;
  if (const auto* gpt = dynamic_cast<const Gpt*>(&model)) {
    json = json_of(gpt->config());
  } else if (const auto* llama = dynamic_cast<const Llama*>(&model)) {
    json = json_of(llama->config());
  } else {
    return std::nullopt;
  }
  json["bos_token_id"] = tokens.begin ? Json(*tokens.begin) : Json();
  json["eos_token_id"] = tokens.end ? Json(*tokens.end) : Json();
  json["torch_dtype"] = "float32";
  json["use_cache"] = true;
  return json.dump(2) + "\n";
}

}  // namespace trireme::model
