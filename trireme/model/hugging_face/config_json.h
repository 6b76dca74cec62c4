// Reads a Hugging Face config.json as settings of [model] for the same model: gpt2 is the kind gpt,
// llama and mistral are the kind llama.
//
// Semantics:     features that Trireme's models do not support identically are rejected: other
//                activations, position scalings, biases, quantized weights. Dropout is set by the
//                recipe.
// Errors:        Corrupt if the text is not a config.json; Unsupported, with the name of the field.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config/value.h"

namespace trireme::model {

// A setting of [model] without its section, its value, and the field it was read from.
struct HuggingFaceSetting {
  std::string name;
  config::Value value;
  std::string field;
};

struct HuggingFaceConfig {
  std::string kind;  // of the model
  std::vector<HuggingFaceSetting> settings;
  // Size of the attention window, including the token itself; nullopt: all previous tokens.
  // Trireme's models have no such window, which makes no difference for texts that are not longer.
  std::optional<std::int64_t> window = {};
};

// `name` is used in messages.
HuggingFaceConfig read_hugging_face_config(std::string_view json, const std::string& name);

}  // namespace trireme::model
