#include "trireme/train/recipe/pretrained_tokens.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/value.h"
#include "trireme/base/error.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/model/model_config.h"
#include "trireme/model/transfer_config.h"
#include "trireme/train/resumption.h"
#include "trireme/train/transfer.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEmbeddings[] = {"transformer.wte.weight", "model.embed_tokens.weight",
                                       "embedding.weight"};

bool has_fresh_embedding(const config::Config& config) {
  const auto& fresh = config.get<model::TransferConfig>("model").load_fresh;
  return std::ranges::any_of(kEmbeddings, [&](const char* name) { return fits_any(fresh, name); });
}

fs::path folder_of(const fs::path& load) {
  return fs::is_directory(load) ? load : load.parent_path();
}

bool is_pretrained(const fs::path& folder) {
  return fs::exists(folder / "config.json");
}

struct ModelTokens {
  std::vector<std::string> texts;  // by token
  bool is_of_job = false;          // not of a tokenizer in a Hugging Face folder
};

// Nullopt if nothing says what the tokens of the model are.
std::optional<ModelTokens> tokens_of(const fs::path& load, const config::Config& config) {
  const bool is_folder = fs::is_directory(load);
  if (const auto record = is_folder ? find_record(load, config) : std::nullopt) {
    if (!record->data || !record->data->source.is_text()) return std::nullopt;
    return ModelTokens{.texts = record->data->source.class_names, .is_of_job = true};
  }
  const fs::path folder = folder_of(load);
  if (!is_pretrained(folder) || !data::tokenizer::has_tokenizer(folder)) return std::nullopt;
  return ModelTokens{.texts = data::tokenizer::open_tokenizer(folder)->texts()};
}

[[noreturn]] void refuse_tokens(const fs::path& load, const std::string& what,
                                bool is_of_job = false) {
  throw Error(
      ErrorCode::InvalidInput,
      "model.load: the data have other tokens than the model in " + load.string() + ": " + what +
          (is_of_job
               ? ". Read the text as that job did (data.unit, data.tokenizer, the same set of "
                 "characters)"
               : ". Set data.tokenizer to the tokenizer of the model") +
          ", or, to learn new tokens, reinitialize the embedding with model.load_fresh");
}

void compare_tokens(const fs::path& load, const ModelTokens& theirs,
                    const std::vector<std::string>& ours) {
  // An embedding of another size does not fit, which loading the weights reports.
  if (theirs.is_of_job && theirs.texts.size() != ours.size()) return;
  const auto [mine, other] = std::ranges::mismatch(ours, theirs.texts);
  if (mine == ours.end()) return;
  const std::string token = "token " + std::to_string(mine - ours.begin());
  refuse_tokens(load,
                other == theirs.texts.end()
                    ? "the model has " + std::to_string(theirs.texts.size()) + " tokens, and " +
                          token + " of the data is " + config::quote_toml(*mine)
                    : token + " is " + config::quote_toml(*other) + " in the model and " +
                          config::quote_toml(*mine) + " in the data",
                theirs.is_of_job);
}

}  // namespace

void expect_pretrained_tokens(const config::Config& config, const data::Form& form) {
  const fs::path& load = config.get<model::ModelConfig>("model").load;
  if (load.empty() || !form.is_text() || form.class_names.empty()) return;
  if (!fs::exists(load) || has_fresh_embedding(config)) return;
  if (const auto theirs = tokens_of(load, config))
    return compare_tokens(load, *theirs, form.class_names);
  if (!is_pretrained(folder_of(load))) return;
  // Without a tokenizer, characters and bytes can be right only if there is the same number.
  const config::Setting* const vocabulary = config.setting("model.vocab_size");
  const std::string size = vocabulary == nullptr ? "0" : config::to_plain(vocabulary->value);
  if (form.tokenizer || size == "0" || size == std::to_string(form.classes)) return;
  refuse_tokens(load, "its vocabulary has " + size + " tokens, and the text has " +
                          std::to_string(form.classes) + " different characters");
}

}  // namespace trireme::train
