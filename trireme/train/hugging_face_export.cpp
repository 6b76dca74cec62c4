#include "trireme/train/hugging_face_export.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/model/hugging_face_config.h"
#include "trireme/model/kind/gpt.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
namespace tokens = data::tokenizer;
using Json = nlohmann::json;

std::optional<std::int64_t> first_named(const tokens::Tokenizer& tokenizer,
                                        std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const tokens::Token token : tokenizer.parts().specials) {
      if (tokenizer.parts().pieces[token] == name) return token;
    }
  }
  return std::nullopt;
}

// Finds special tokens by the names that published tokenizers use.
model::HuggingFaceTokens special_tokens(const data::Form& form) {
  if (!form.tokenizer) return {};
  const tokens::TokenizerParts& parts = form.tokenizer->parts();
  model::HuggingFaceTokens found{
      .begin = first_named(*form.tokenizer, {"<|begin_of_text|>", "<s>", "<|endoftext|>"}),
      .end = first_named(*form.tokenizer, {"<|end_of_text|>", "</s>", "<|endoftext|>"})};
  if (!parts.before.empty()) found.begin = parts.before.front();
  if (form.document_end >= 0) found.end = form.document_end;
  return found;
}

bool are_bytes(const std::vector<std::string>& names) {
  return names.size() == 256 &&
         std::ranges::all_of(names, [](const std::string& name) { return name.size() == 1; });
}

// A tokenizer in which every character is one token. Like published ones it writes U+2581 for a
// blank.
std::string character_tokenizer(std::vector<std::string> names) {
  std::ranges::replace(names, std::string(" "), std::string(tokens::kMark));
  return tokens::write_tokenizer_json(tokens::Tokenizer(
      {.pieces = std::move(names), .is_over_bytes = false, .split = tokens::Split::Whole}));
}

// Empty if tokens have no texts.
std::string tokenizer_json(const data::Form& form) {
  if (form.tokenizer) return tokens::write_tokenizer_json(*form.tokenizer);
  if (form.class_names.empty()) return {};
  if (!are_bytes(form.class_names)) return character_tokenizer(form.class_names);
  return tokens::write_tokenizer_json(
      tokens::Tokenizer({.pieces = form.class_names, .split = tokens::Split::Whole}));
}

void write_tokenizer(const fs::path& folder, const data::Form& form,
                     const model::HuggingFaceTokens& special) {
  const std::string text = tokenizer_json(form);
  if (text.empty()) return;
  Json named = Json::object();
  const auto add = [&](const char* role, const std::optional<std::int64_t>& token) {
    if (token) named[role] = form.class_names.at(static_cast<std::size_t>(*token));
  };
  add("bos_token", special.begin);
  add("eos_token", special.end);
  if (form.tokenizer) add("unk_token", form.tokenizer->parts().unknown);
  Json config{{"tokenizer_class", "PreTrainedTokenizerFast"},
              {"model_max_length", form.input_sizes.at(0)},
              {"clean_up_tokenization_spaces", false}};
  config.update(named);
  write_file_atomically(folder / "tokenizer.json", text);
  write_file_atomically(folder / "tokenizer_config.json", config.dump(2) + "\n");
  write_file_atomically(folder / "special_tokens_map.json", named.dump(2) + "\n");
}

void add_missing_biases(checkpoint::NamedTensors& tensors) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) names.insert(name);
  checkpoint::NamedTensors zeros;
  for (const auto& [name, tensor] : tensors) {
    const std::string end = ".weight";
    const bool has_bias = name.find(".h.") != std::string::npos || name.ends_with(".ln_f.weight");
    if (!has_bias || !name.ends_with(end)) continue;
    const std::string bias = name.substr(0, name.size() - end.size()) + ".bias";
    // The last dimension is the size of the output, both for norms and for matrices as GPT-2 stores
    // them.
    if (!names.contains(bias)) {
      zeros.emplace_back(bias, at::zeros({tensor.size(-1)}, tensor.options()));
    }
  }
  tensors.insert(tensors.end(), zeros.begin(), zeros.end());
}

}  // namespace

void export_hugging_face(const fs::path& folder, const TrainedModel& trained,
                         checkpoint::NamedTensors tensors) {
  const data::Form& form = trained.data.form;
  const model::HuggingFaceTokens special = special_tokens(form);
  const auto config = model::hugging_face_config_of(*trained.model, special);
  if (!config) {
    throw Error(ErrorCode::Unsupported,
                "only a gpt or a llama can be exported as a Hugging Face folder; name a "
                ".safetensors file to export only the weights");
  }
  if (dynamic_cast<const model::Gpt*>(trained.model.get()) != nullptr) add_missing_biases(tensors);
  fs::create_directories(folder);
  checkpoint::write_safetensors(folder / "model.safetensors", tensors);
  write_tokenizer(folder, form, special);
  Json generation{{"_from_model_config", true}};
  if (special.begin) generation["bos_token_id"] = *special.begin;
  if (special.end) generation["eos_token_id"] = *special.end;
  write_file_atomically(folder / "generation_config.json", generation.dump(2) + "\n");
  write_file_atomically(folder / "config.json", *config);
}

}  // namespace trireme::train
