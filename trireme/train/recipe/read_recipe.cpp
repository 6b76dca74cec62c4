#include "trireme/train/recipe/read_recipe.h"

#include <optional>
#include <variant>

#include "trireme/base/check.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/data/idx/idx_set.h"
#include "trireme/model/hugging_face_config.h"
#include "trireme/model/model_config.h"
#include "trireme/train/resumption.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

// Of a path or a list of paths.
config::Value absolute(const config::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.content)) {
    if (text->empty()) return value;
    return {fs::absolute(*text).lexically_normal().string()};
  }
  const auto* list = std::get_if<config::List>(&value.content);
  if (list == nullptr) return value;
  config::List all;
  for (const config::Value& item : *list) all.push_back(absolute(item));
  return {std::move(all)};
}

void add_absolute_paths(const config::Config& config, std::vector<std::string>& overrides) {
  for (const config::Setting& setting : config.settings()) {
    if (!setting.type.ends_with("path")) continue;
    const config::Value value = absolute(setting.value);
    if (value != setting.value) overrides.push_back(setting.key() + "=" + config::to_toml(value));
  }
  const auto* idx = config.find<data::idx::IdxConfig>("data");
  if (idx == nullptr || !idx->folder.empty()) return;
  const fs::path found = data::idx::found_folder(*idx);
  if (found.empty() || found.is_absolute()) return;
  overrides.push_back("data.folder=" + config::quote_toml(fs::absolute(found).string()));
}

// The config.json that belongs to what model.load names; empty: none does.
fs::path config_beside(const config::Config& config) {
  const fs::path load = config.get<model::ModelConfig>(model::kModelSection).load;
  const bool is_folder = fs::is_directory(load);
  if (load.empty() || (!is_folder && load.extension() != ".safetensors")) return {};
  const fs::path file = (is_folder ? load : load.parent_path()) / "config.json";
  // Beside a single file it may be about something else.
  const std::string& kind = config.kind(model::kModelSection);
  if (!fs::is_regular_file(file) || (!is_folder && kind != "gpt" && kind != "llama")) return {};
  return file;
}

std::optional<double> number_in(const config::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.content)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&value.content);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

// Sizes of 0 are worked out from others, which the recipe therefore leaves open.
bool is_open(const config::Setting& setting) {
  const auto* whole = std::get_if<std::int64_t>(&setting.value.content);
  return setting.is_default() || (whole != nullptr && *whole == 0);
}

bool is_same(const config::Setting& setting, const model::HuggingFaceSetting& theirs,
             const std::string& kind) {
  const auto ours = number_in(setting.value), other = number_in(theirs.value);
  if (!ours || !other) return setting.value == theirs.value;
  // A llama has no weights of positions: it may look at fewer.
  if (kind == "llama" && theirs.name == "context") return *ours <= *other;
  return *ours == *other;
}

// What the recipe leaves open, as overrides. InvalidInput where it says otherwise.
std::vector<std::string> settings_of(const model::HuggingFaceConfig& theirs,
                                     const config::Config& config, const fs::path& file) {
  std::vector<std::string> overrides;
  std::string contradictions;
  for (const model::HuggingFaceSetting& each : theirs.settings) {
    const std::string key = std::string(model::kModelSection) + "." + each.name;
    const config::Setting* const setting = config.setting(key);
    TRIREME_CHECK(setting != nullptr, "a ", theirs.kind, " has no setting ", each.name);
    if (is_open(*setting)) {
      overrides.push_back(key + "=" + config::to_toml(each.value));
    } else if (!is_same(*setting, each, theirs.kind)) {
      contradictions += (contradictions.empty() ? "" : ", ") + key + " = " +
                        to_plain(setting->value) + " (" + each.field + ": " + to_plain(each.value) +
                        ")";
    }
  }
  if (contradictions.empty()) return overrides;
  throw Error(ErrorCode::InvalidInput, "model.load: the recipe contradicts " + file.string() +
                                           ": " + contradictions +
                                           ". Remove these settings from the recipe");
}

void expect_within_window(const model::HuggingFaceConfig& theirs, const config::Config& config,
                          const fs::path& file) {
  if (!theirs.window) return;
  const auto context = number_in(config.setting("model.context")->value);
  if (!context || *context <= static_cast<double>(*theirs.window)) return;
  const std::string window = std::to_string(*theirs.window);
  throw Error(ErrorCode::InvalidInput,
              "model.load: " + file.string() + " has a sliding window of " + window +
                  " tokens (sliding_window), which is not supported, and model.context = " +
                  to_plain(config.setting("model.context")->value) +
                  " is longer. Set model.kind=llama model.context=" + window +
                  " or less, where the window makes no difference");
}

// The recipe of a job's newest checkpoint, where model.load is named or emptied and has no
// config.json: the model's settings may have come from one that is gone.
std::optional<config::Config> saved_recipe(const fs::path& job, const config::Config& config,
                                           const config::Schema& schema) {
  if (job.empty() || config.setting("model.load")->is_default()) return std::nullopt;
  const std::optional<JobRecord> record = find_record(job, config);
  if (!record) return std::nullopt;
  return config::read_config(schema, {.files = {{record->path.string(), record->progress.recipe}}});
}

// Settings of the model that the recipe leaves out, as overrides.
std::vector<std::string> settings_of(const config::Config& saved, const config::Config& config) {
  std::vector<std::string> overrides;
  for (const config::Setting& setting : saved.settings()) {
    const std::string key = setting.key();
    if (!key.starts_with("model.") || key.starts_with("model.load")) continue;
    const config::Setting* const own = config.setting(key);
    if (own == nullptr || !own->is_default() || own->value == setting.value) continue;
    overrides.push_back(key + "=" + config::to_toml(setting.value));
  }
  return overrides;
}

}  // namespace

config::Config read_recipe(const fs::path& file, const std::vector<std::string>& overrides,
                           const Kinds& kinds, const fs::path& resumed) {
  const config::Schema schema = recipe_schema(kinds);
  const config::ConfigText text = config::load_config(file);
  std::vector<std::string> all = overrides;
  const auto read = [&] {
    return config::read_config(schema, {.files = {text}, .overrides = all});
  };
  config::Config config = read();
  add_absolute_paths(config, all);
  if (const fs::path beside = config_beside(config); !beside.empty()) {
    const model::HuggingFaceConfig theirs =
        model::read_hugging_face_config(read_file(beside), beside.string());
    const config::Setting* const kind = config.setting("model.kind");
    if (kind->is_default()) {
      all.push_back("model.kind=" + theirs.kind);
      config = read();
    } else if (config.kind(model::kModelSection) != theirs.kind) {
      throw Error(ErrorCode::InvalidInput, "model.load: " + beside.string() +
                                               " is of a model of kind " + theirs.kind +
                                               ", and model.kind is " + to_plain(kind->value));
    }
    for (std::string& each : settings_of(theirs, config, beside)) all.push_back(std::move(each));
    expect_within_window(theirs, read(), beside);
  } else if (const auto saved = saved_recipe(resumed, config, schema)) {
    if (config.setting("model.kind")->is_default()) {
      all.push_back("model.kind=" + saved->kind(model::kModelSection));
      config = read();
    }
    for (std::string& each : settings_of(*saved, config)) all.push_back(std::move(each));
  }
  return all.size() == overrides.size() ? config : read();
}

}  // namespace trireme::train
