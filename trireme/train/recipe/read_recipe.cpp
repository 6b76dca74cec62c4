#include "trireme/train/recipe/read_recipe.h"

#include <variant>

#include "trireme/base/config/reader.h"
#include "trireme/data/idx/idx_set.h"
#include "trireme/model/hugging_face/pretrained.h"
#include "trireme/train/resumption.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

// Makes a path or a list of paths absolute.
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

// The settings of the model in the job's newest checkpoint, because the config.json from which they
// came may no longer exist.
std::vector<config::GivenSetting> saved_settings(const fs::path& job, const config::Schema& schema,
                                                 const config::Sources& sources) {
  if (job.empty()) return {};
  config::Sources few = sources;
  few.only = {"checkpoint."};
  const auto record = find_record(job, config::read_config(schema, few));
  if (!record) return {};
  return model::settings_of_earlier_run(schema, sources,
                                        {record->path.string(), record->progress.recipe});
}

}  // namespace

config::Config read_recipe(const fs::path& file, const std::vector<std::string>& overrides,
                           const Kinds& kinds, const fs::path& resumed) {
  const config::Schema schema = recipe_schema(kinds);
  config::Sources sources{.files = {config::load_config(file)}, .overrides = overrides};
  sources.given = saved_settings(resumed, schema, sources);
  config::Config config = model::read_with_pretrained(schema, sources);
  add_absolute_paths(config, sources.overrides);
  return sources.overrides.size() == overrides.size()
             ? config
             : model::read_with_pretrained(schema, sources);
}

}  // namespace trireme::train
