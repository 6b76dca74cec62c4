// Creates a built-in model as a recipe's [model] does.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/base/config/reader.h"
#include "trireme/model/registry.h"

namespace trireme::model {

// `settings` are those of the section [model], such as "hidden_size=8".
inline std::shared_ptr<Model> make_model(const std::string& kind,
                                         const std::vector<std::string>& settings,
                                         const data::Form& form) {
  ModelRegistry registry;
  add_models(registry);
  config::Schema schema;
  registry.add_sections(schema);
  std::vector<std::string> words{"model.kind=" + kind};
  for (const std::string& setting : settings) words.push_back("model." + setting);
  return registry.make(read_config(schema, {.overrides = words}), {.form = form});
}

}  // namespace trireme::model
