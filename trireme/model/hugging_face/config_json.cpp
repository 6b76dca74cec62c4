#include "trireme/model/hugging_face/config_json.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"
#include "trireme/base/text/whole_number.h"

namespace trireme::model {
namespace {

using Json = nlohmann::json;

// One config.json, read field by field.
class ConfigFile {
 public:
  ConfigFile(Json all, std::string name) : all_(std::move(all)), name_(std::move(name)) {}

  HuggingFaceConfig read() {
    const std::string type = all_.at("model_type").get<std::string>();
    refuse_unless_missing("quantization_config");
    expect_one_of("torch_dtype", {"float32", "float16", "bfloat16"});
    expect_one_of("dtype", {"float32", "float16", "bfloat16"});
    if (type == "gpt2") {
      read_gpt2();
    } else if (type == "llama") {
      read_llama({});
    } else if (type == "mistral") {
      read_llama({.context = 131072, .hidden = 14336, .key_heads = 8, .window = 4096});
    } else {
      refuse("model_type", "use a model of type gpt2, llama or mistral");
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& field, const std::string& what) const {
    const auto found = all_.find(field);
    throw Error(ErrorCode::Unsupported, name_ + ": " + field + " = " +
                                            (found == all_.end() ? "" : found->dump()) +
                                            " is not supported; " + what);
  }
  bool has(const std::string& field) const {
    return all_.contains(field) && !all_.at(field).is_null();
  }
  std::int64_t whole(const std::string& field, std::int64_t otherwise) const {
    return has(field) ? whole_number<std::int32_t>(all_.at(field), name_) : otherwise;
  }
  void refuse_unless_missing(const std::string& field) const {
    if (has(field)) refuse(field, "the model here has no such part");
  }
  void expect(const std::string& field, const Json& only) const {
    if (has(field) && all_.at(field) != only) refuse(field, "only " + only.dump() + " is");
  }
  void expect_one_of(const std::string& field, std::initializer_list<const char*> names) const {
    if (!has(field)) return;
    std::string all;
    for (const char* name : names) {
      if (all_.at(field) == name) return;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    refuse(field, "use one of " + all);
  }

  // Converts a field to the setting with the same meaning; without the field, its default.
  void take(const std::string& setting, const std::string& field, const Json& otherwise) {
    const Json& value = has(field) ? all_.at(field) : otherwise;
    put(setting, value, field);
  }
  void put(const std::string& setting, const Json& value, const std::string& field) {
    config::Value out;
    if (value.is_boolean()) {
      out.content = value.get<bool>();
    } else if (value.is_string()) {
      out.content = value.get<std::string>();
    } else if (value.is_number_integer() && !is_real(setting)) {
      out.content = value.get<std::int64_t>();
    } else {
      out.content = value.get<double>();
    }
    out_.settings.push_back({setting, std::move(out), field});
  }
  static bool is_real(const std::string& setting) {
    return setting == "norm_eps" || setting.starts_with("rope_theta") || setting == "rope_factor" ||
           setting.ends_with("_freq_factor");
  }

  void read_gpt2() {
    out_.kind = "gpt";
    take("vocab_size", "vocab_size", 50257);
    take("max_seq_len", "n_positions", 1024);
    take("hidden_size", "n_embd", 768);
    take("num_layers", "n_layer", 12);
    take("num_heads", "n_head", 12);
    take("norm_eps", "layer_norm_epsilon", 1e-5);
    take("tie_word_embeddings", "tie_word_embeddings", true);
    put("bias", true, "model_type");
    expect_one_of("activation_function", {"gelu_new", "gelu_pytorch_tanh"});
    expect("scale_attn_weights", true);
    expect("scale_attn_by_inverse_layer_idx", false);
    expect("add_cross_attention", false);
    expect("n_inner", 4 * whole("n_embd", 768));
  }

  // Defaults of `transformers` for absent fields, where they differ between models.
  struct LlamaDefaults {
    std::int64_t context = 2048;
    std::int64_t hidden = 11008;
    std::optional<std::int64_t> key_heads = {};  // nullopt: the same as heads
    std::optional<std::int64_t> window = {};
  };

  void read_llama(const LlamaDefaults& defaults) {
    out_.kind = "llama";
    const std::int64_t width = whole("hidden_size", 4096);
    const std::int64_t heads = whole("num_attention_heads", 32);
    take("vocab_size", "vocab_size", 32000);
    take("max_seq_len", "max_position_embeddings", defaults.context);
    take("hidden_size", "hidden_size", width);
    take("num_layers", "num_hidden_layers", 32);
    take("num_heads", "num_attention_heads", heads);
    // A null has the same meaning as for a llama.
    const bool has_key_heads = all_.contains("num_key_value_heads");
    take("num_kv_heads", "num_key_value_heads",
         has_key_heads ? heads : defaults.key_heads.value_or(heads));
    take("intermediate_size", "intermediate_size", defaults.hidden);
    take("norm_eps", "rms_norm_eps", 1e-6);
    take("tie_word_embeddings", "tie_word_embeddings", false);
    expect_one_of("hidden_act", {"silu", "swish"});
    expect("attention_bias", false);
    expect("mlp_bias", false);
    expect("head_dim", heads > 0 ? width / heads : 0);
    if (!all_.contains("sliding_window")) {
      out_.window = defaults.window;
    } else if (has("sliding_window")) {
      out_.window = whole("sliding_window", 0);
    }
    read_rope();
  }

  // Newer files have one table; older ones have a base and a table for the scaling.
  void read_rope() {
    const std::string field = has("rope_parameters") ? "rope_parameters" : "rope_scaling";
    const Json rope = has(field) ? all_.at(field) : Json::object();
    const Json old = has("rope_theta") ? all_.at("rope_theta") : Json(10000.0);
    put("rope_theta", rope.value("rope_theta", old), "rope_theta");
    const std::string type = rope.value("rope_type", rope.value("type", std::string("default")));
    if (type == "default") {
      put("rope_scaling", "none", field);
      return;
    }
    if (type != "linear" && type != "llama3") refuse(field, "only linear and llama3 are");
    put("rope_scaling", type, field);
    put("rope_factor", rope.at("factor"), field);
    if (type == "linear") return;
    put("rope_low_freq_factor", rope.at("low_freq_factor"), field);
    put("rope_high_freq_factor", rope.at("high_freq_factor"), field);
    put("rope_original_max_seq_len", rope.at("original_max_position_embeddings"), field);
  }

  Json all_;
  std::string name_;
  HuggingFaceConfig out_;
};

}  // namespace

HuggingFaceConfig read_hugging_face_config(std::string_view json, const std::string& name) {
  if (is_nested_deeper(json, kJsonDepthMax)) {
    throw Error(ErrorCode::Corrupt, name + " is nested too deeply for a config.json");
  }
  try {
    return ConfigFile(Json::parse(json), name).read();
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Corrupt,
                name + " is not a config.json of Hugging Face's: " + error.what());
  }
}

}  // namespace trireme::model
