#include "trireme/model/hugging_face/pretrained.h"

#include <optional>
#include <string>
#include <variant>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/model/hugging_face/config_json.h"

namespace trireme::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "model.kind";
constexpr const char* kLoad = "model.load";
constexpr const char* kTokenizer = "data.tokenizer";

// The settings that decide how the others are read. Nullopt if one of them is wrong: reading the
// whole recipe reports that together with all other mistakes.
std::optional<config::Config> decisive_settings(const config::Schema& schema,
                                                config::Sources sources) {
  sources.only = {kKind, kLoad, "data.kind", kTokenizer, "data.unit"};
  try {
    return config::read_config(schema, sources);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::InvalidInput) throw;
    return std::nullopt;
  }
}

// Empty if a worker of another program has no such setting.
std::string text_of(const config::Config& config, const char* key) {
  const config::Setting* const setting = config.setting(key);
  const auto* const text =
      setting == nullptr ? nullptr : std::get_if<std::string>(&setting->value.content);
  return text == nullptr ? std::string() : *text;
}

bool is_stated(const config::Config& config, const char* key) {
  const config::Setting* const setting = config.setting(key);
  return setting != nullptr && !setting->is_default();
}

// Whether the recipe leaves the choice of a tokenizer to the model's folder.
bool lacks_tokenizer(const config::Config& config) {
  return text_of(config, "data.kind") == "text" && config.setting(kTokenizer) != nullptr &&
         !is_stated(config, kTokenizer) && !is_stated(config, "data.unit");
}

fs::path config_json_of(const config::Config& decisive) {
  const fs::path load = text_of(decisive, kLoad);
  if (load.empty()) return {};
  if (!fs::exists(load) && !is_stated(decisive, kKind)) {
    throw Error(ErrorCode::NotFound,
                std::string(kLoad) + ": " + fs::absolute(load).lexically_normal().string() +
                    " does not exist. Correct the path. A job that is resumed has its weights in "
                    "its checkpoint: model.load= (empty) omits them");
  }
  const bool is_folder = fs::is_directory(load);
  if (!is_folder && load.extension() != ".safetensors") return {};
  const fs::path file = (is_folder ? load : load.parent_path()) / "config.json";
  // A config.json next to a single file may describe something else.
  const std::string kind = text_of(decisive, kKind);
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

// A size of 0 is worked out from other sizes, so the recipe leaves it open.
bool is_open(const config::Setting& setting) {
  const auto* whole = std::get_if<std::int64_t>(&setting.value.content);
  return whole != nullptr && *whole == 0;
}

bool is_same(const config::Setting& setting, const HuggingFaceSetting& theirs,
             const std::string& kind) {
  const auto ours = number_in(setting.value), other = number_in(theirs.value);
  if (!ours || !other) return setting.value == theirs.value;
  // A llama has no weights of positions and may use a shorter context.
  if (kind == "llama" && theirs.name == "max_seq_len") return *ours <= *other;
  return *ours == *other;
}

std::string key_of(const HuggingFaceSetting& theirs) {
  return "model." + theirs.name;
}

// Sizes that the recipe sets to 0, as overrides. InvalidInput where it contradicts the file.
std::vector<std::string> open_sizes(const HuggingFaceConfig& theirs, const config::Config& config,
                                    const fs::path& file) {
  std::vector<std::string> overrides;
  std::string contradictions;
  for (const HuggingFaceSetting& each : theirs.settings) {
    const config::Setting* const setting = config.setting(key_of(each));
    TRIREME_CHECK(setting != nullptr, "a ", theirs.kind, " has no setting ", each.name);
    if (is_same(*setting, each, theirs.kind) && !is_open(*setting)) continue;
    if (is_open(*setting)) {
      overrides.push_back(key_of(each) + "=" + config::to_toml(each.value));
      continue;
    }
    contradictions += (contradictions.empty() ? "" : ", ") + key_of(each) + " = " +
                      to_plain(setting->value) + " (" + each.field + ": " + to_plain(each.value) +
                      ")";
  }
  if (contradictions.empty()) return overrides;
  throw Error(ErrorCode::InvalidInput, std::string(kLoad) + ": the recipe contradicts " +
                                           file.string() + ": " + contradictions +
                                           ". Remove these settings from the recipe");
}

void expect_within_window(const HuggingFaceConfig& theirs, const config::Config& config,
                          const fs::path& file) {
  if (!theirs.window) return;
  const config::Value& context = config.setting("model.max_seq_len")->value;
  const auto count = number_in(context);
  if (!count || *count <= static_cast<double>(*theirs.window)) return;
  const std::string window = std::to_string(*theirs.window);
  throw Error(ErrorCode::InvalidInput,
              std::string(kLoad) + ": " + file.string() + " has a sliding window of " + window +
                  " tokens (sliding_window), which is not supported, and model.max_seq_len = " +
                  to_plain(context) + " is longer. Set model.max_seq_len=" + window +
                  " or less, where the window makes no difference");
}

void add_given(config::Sources& sources, const HuggingFaceConfig& theirs, const fs::path& file,
               const config::Config& decisive) {
  const std::string origin = file.string();
  const auto give = [&](const std::string& key, const config::Value& value) {
    sources.given.push_back({.key = key, .value = value, .origin = origin});
  };
  give(kKind, {theirs.kind});
  for (const HuggingFaceSetting& each : theirs.settings) give(key_of(each), each.value);
  const fs::path folder = file.parent_path();
  if (lacks_tokenizer(decisive) && data::tokenizer::has_tokenizer(folder)) {
    give(kTokenizer, {folder.string()});
  }
}

}  // namespace

config::Config read_with_pretrained(const config::Schema& schema, config::Sources sources) {
  const std::optional<config::Config> decisive = decisive_settings(schema, sources);
  const fs::path file = decisive ? config_json_of(*decisive) : fs::path();
  if (file.empty()) return config::read_config(schema, sources);
  const HuggingFaceConfig theirs = read_hugging_face_config(read_file(file), file.string());
  if (is_stated(*decisive, kKind) && text_of(*decisive, kKind) != theirs.kind) {
    throw Error(ErrorCode::InvalidInput, std::string(kLoad) + ": " + file.string() +
                                             " describes a model of kind " + theirs.kind +
                                             ", and model.kind is " + text_of(*decisive, kKind) +
                                             ". Remove model.kind from the recipe");
  }
  add_given(sources, theirs, file, *decisive);
  config::Config config = config::read_config(schema, sources);
  const std::vector<std::string> sizes = open_sizes(theirs, config, file);
  if (!sizes.empty()) {
    sources.overrides.insert(sources.overrides.end(), sizes.begin(), sizes.end());
    config = config::read_config(schema, sources);
  }
  expect_within_window(theirs, config, file);
  return config;
}

fs::path config_json_of(const config::Schema& schema, const config::Sources& sources) {
  const std::optional<config::Config> decisive = decisive_settings(schema, sources);
  return decisive ? config_json_of(*decisive) : fs::path();
}

std::vector<config::GivenSetting> settings_of_earlier_run(const config::Schema& schema,
                                                          const config::Sources& sources,
                                                          const config::ConfigText& saved) {
  const std::optional<config::Config> now = decisive_settings(schema, sources);
  if (!now || !is_stated(*now, kLoad) || !config_json_of(*now).empty()) return {};
  const config::Config earlier = config::read_config(schema, {.files = {saved}});
  if (is_stated(*now, kKind) && text_of(*now, kKind) != text_of(earlier, kKind)) return {};
  std::vector<config::GivenSetting> given;
  for (const config::Setting& setting : earlier.settings()) {
    const std::string key = setting.key();
    const bool is_of_model = key.starts_with("model.") && !key.starts_with(kLoad);
    const bool is_tokenizer = key == kTokenizer && lacks_tokenizer(*now);
    if (!is_of_model && !is_tokenizer) continue;
    given.push_back({.key = key, .value = setting.value, .origin = saved.name});
  }
  return given;
}

}  // namespace trireme::model
