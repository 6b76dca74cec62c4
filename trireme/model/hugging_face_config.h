// Writes the Hugging Face config.json of a gpt or llama; trireme/model/hugging_face/config_json.h
// reads one.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/model/model.h"

namespace trireme::model {

// Tokens that begin and end a text, if the tokenizer has them.
struct HuggingFaceTokens {
  std::optional<std::int64_t> begin = {};
  std::optional<std::int64_t> end = {};
};

// The config.json of a gpt or llama; nullopt for other models.
std::optional<std::string> hugging_face_config_of(const Model& model,
                                                  const HuggingFaceTokens& tokens);

}  // namespace trireme::model
