#include "trireme/model/registry.h"

#include "trireme/base/check.h"
#include "trireme/model/audio/audio.h"
#include "trireme/model/autoencoder/autoencoder.h"
#include "trireme/model/cnn/cnn.h"
#include "trireme/model/gan/gan.h"
#include "trireme/model/gpt/gpt.h"
#include "trireme/model/linear_model/linear_model.h"
#include "trireme/model/llama/llama.h"
#include "trireme/model/lstm/lstm.h"
#include "trireme/model/mlp/mlp.h"
#include "trireme/model/model_config.h"
#include "trireme/model/multitask/multitask.h"
#include "trireme/model/resnet/resnet.h"
#include "trireme/model/transfer_config.h"
#include "trireme/model/vit/vit.h"

namespace trireme::model {

void Registry::add_entry(Entry entry) {
  for (const Entry& other : entries_) {
    TRIREME_CHECK(other.name != entry.name, "there is a model ", entry.name, " already");
  }
  entries_.push_back(std::move(entry));
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> all;
  for (const Entry& entry : entries_) all.push_back(entry.name);
  return all;
}

void Registry::add_sections(config::Schema& schema) const {
  config::Section& section = schema.section(kModelSection, "the model to train");
  section.fields<ModelConfig>().fields<TransferConfig>();
  for (const Entry& entry : entries_) entry.declare(section);
}

std::shared_ptr<Model> Registry::make(const config::Config& config, const Facts& facts) const {
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

void add_models(Registry& registry) {
  registry.add<MlpConfig>(
      "mlp", "a multilayer perceptron (fully connected layers)",
      [](const MlpConfig& c, const Facts& f) { return std::make_shared<Mlp>(c, f.form); });
  registry.add<CnnConfig>(
      "cnn", "a convolutional network for small images",
      [](const CnnConfig& c, const Facts& f) { return std::make_shared<Cnn>(c, f.form); });
  registry.add<GptConfig>(
      "gpt", "a decoder-only transformer of the GPT-2 family",
      [](const GptConfig& c, const Facts& f) { return std::make_shared<Gpt>(c, f.form); });
  registry.add<LlamaConfig>(
      "llama", "a decoder-only transformer of the Llama family",
      [](const LlamaConfig& c, const Facts& f) { return std::make_shared<Llama>(c, f.form); });
  registry.add<ResnetConfig>(
      "resnet", "a residual network for images",
      [](const ResnetConfig& c, const Facts& f) { return std::make_shared<Resnet>(c, f.form); });
  registry.add<VitConfig>("vit", "a vision transformer", [](const VitConfig& c, const Facts& f) {
    return std::make_shared<Vit>(c, f.form);
  });
  registry.add<LstmConfig>(
      "lstm", "a recurrent language model",
      [](const LstmConfig& c, const Facts& f) { return std::make_shared<Lstm>(c, f.form); });
  registry.add<LinearModelConfig>("linear", "linear regression",
                                  [](const LinearModelConfig& c, const Facts& f) {
                                    return std::make_shared<LinearModel>(c, f.form);
                                  });
  registry.add<LogisticConfig>("logistic", "logistic regression",
                               [](const LogisticConfig& c, const Facts& f) {
                                 return std::make_shared<LinearModel>(c, f.form);
                               });
  registry.add<AutoencoderConfig>(
      "autoencoder", "an autoencoder: compresses samples to a code and reconstructs them",
      [](const AutoencoderConfig& c, const Facts& f) {
        return std::make_shared<Autoencoder>(c, f.form);
      });
  registry.add<GanConfig>(
      "gan", "a class-conditional generative adversarial network for images",
      [](const GanConfig& c, const Facts& f) { return std::make_shared<Gan>(c, f.form); });
  registry.add<AudioConfig>(
      "audio", "a small network that classifies spoken words from spectrograms",
      [](const AudioConfig& c, const Facts& f) { return std::make_shared<Audio>(c, f.form); });
  registry.add<MultitaskConfig>("multitask", "a shared trunk with one head and one loss per task",
                                [](const MultitaskConfig& c, const Facts& f) {
                                  return std::make_shared<Multitask>(c, f.form);
                                });
}

}  // namespace trireme::model
