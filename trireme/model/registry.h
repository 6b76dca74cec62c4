// ModelRegistry contains the models that a program can train by name: the kinds of a recipe's
// [model].
//
//   model::ModelRegistry registry;
//   model::add_models(registry);  // mlp, cnn, gpt, llama ...
//   registry.add<TowerConfig, Tower>("tower", "two towers");
//
// Thread safety: filled by one thread, then read by any thread.
// Errors:        Misuse for a name that is already used; make() throws InvalidInput if the data do
//                not match the model.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/data/form.h"
#include "trireme/model/model.h"

namespace trireme::model {

inline constexpr const char* kModelSection = "model";

// What determines the size of a model.
struct Facts {
  data::Form form;
};

class ModelRegistry {
 public:
  template <class Config>
  using Make = std::function<std::shared_ptr<Model>(const Config&, const Facts&)>;

  template <class Config>
  void add(const std::string& name, const std::string& help, Make<Config> make) {
    add_entry(
        {.name = name,
         .declare = [name, help](config::Section& section) { section.kind<Config>(name, help); },
         .make =
             [make = std::move(make)](const config::Config& config, const Facts& facts) {
               return make(config.get<Config>(kModelSection), facts);
             }});
  }

  // The same for a class that is constructed from its settings and the form of the data.
  template <class Config, class Net>
  void add(const std::string& name, const std::string& help) {
    add<Config>(name, help, [](const Config& config, const Facts& facts) {
      return std::make_shared<Net>(config, facts.form);
    });
  }

  std::vector<std::string> names() const;

  // The section [model]: the settings that all models share, and one kind for each.
  void add_sections(config::Schema& schema) const;

  // Creates the model that [model] names. Its weights are not initialized: see initialize().
  std::shared_ptr<Model> make(const config::Config& config, const Facts& facts) const;

 private:
  struct Entry {
    std::string name;
    std::function<void(config::Section&)> declare;
    std::function<std::shared_ptr<Model>(const config::Config&, const Facts&)> make;
  };

  void add_entry(Entry entry);

  std::vector<Entry> entries_;
};

// Adds all built-in models: those in trireme/model/kind/.
void add_models(ModelRegistry& registry);

}  // namespace trireme::model
