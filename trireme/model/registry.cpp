#include "trireme/model/registry.h"

#include "trireme/base/check.h"
#include "trireme/model/model_config.h"
#include "trireme/model/transfer_config.h"

namespace trireme::model {

// Each is in trireme/model/kind/, in the file of this name.
void add_mlp(ModelRegistry& registry);
void add_cnn(ModelRegistry& registry);
void add_gpt(ModelRegistry& registry);
void add_llama(ModelRegistry& registry);
void add_resnet(ModelRegistry& registry);
void add_vit(ModelRegistry& registry);
void add_lstm(ModelRegistry& registry);
void add_linear(ModelRegistry& registry);
void add_autoencoder(ModelRegistry& registry);
void add_gan(ModelRegistry& registry);
void add_audio(ModelRegistry& registry);
void add_multitask(ModelRegistry& registry);

void ModelRegistry::add_entry(Entry entry) {
  for (const Entry& other : entries_) {
    TRIREME_CHECK(other.name != entry.name, "there is a model ", entry.name, " already");
  }
  entries_.push_back(std::move(entry));
}

std::vector<std::string> ModelRegistry::names() const {
  std::vector<std::string> all;
  for (const Entry& entry : entries_) all.push_back(entry.name);
  return all;
}

void ModelRegistry::add_sections(config::Schema& schema) const {
  config::Section& section = schema.section(kModelSection, "the model to train");
  section.fields<ModelConfig>().fields<TransferConfig>();
  for (const Entry& entry : entries_) entry.declare(section);
}

std::shared_ptr<Model> ModelRegistry::make(const config::Config& config, const Facts& facts) const {
  const std::string& kind = config.kind(kModelSection);
  for (const Entry& entry : entries_) {
    if (entry.name != kind) continue;
    std::shared_ptr<Model> model = entry.make(config, facts);
    TRIREME_CHECK(model != nullptr, "the model ", kind, " was not made");
    model->set_recompute(config.get<ModelConfig>(kModelSection).recompute);
    return model;
  }
  TRIREME_CHECK(false, "no model is named ", kind);
}

void add_models(ModelRegistry& registry) {
  add_mlp(registry);
  add_cnn(registry);
  add_gpt(registry);
  add_llama(registry);
  add_resnet(registry);
  add_vit(registry);
  add_lstm(registry);
  add_linear(registry);
  add_autoencoder(registry);
  add_gan(registry);
  add_audio(registry);
  add_multitask(registry);
}

}  // namespace trireme::model
