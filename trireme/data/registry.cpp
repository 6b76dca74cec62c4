#include "trireme/data/registry.h"

#include <algorithm>
#include <string>

#include "trireme/base/check.h"
#include "trireme/base/config/value.h"
#include "trireme/base/error.h"
#include "trireme/data/data_changes.h"
#include "trireme/data/data_config.h"
#include "trireme/data/order/sampling.h"
#include "trireme/data/sequence/text_config.h"
#include "trireme/data/source/extra.h"
#include "trireme/data/source/source.h"
#include "trireme/data/source/targets.h"
#include "trireme/data/transform/mixed_source.h"
#include "trireme/data/transform/transform_config.h"
#include "trireme/data/transform/transformed_source.h"

namespace trireme::data {
namespace {

// Changing a text reads past the end of its window, where another fold may begin.
void require_whole(const config::Config& config) {
  const auto* text = config.find<sequence::TextConfig>("data");
  if (text == nullptr || text->changes().is_nothing()) return;
  if (config.get<SamplingConfig>("data").folds == 0) return;
  throw Error(ErrorCode::InvalidInput,
              "data.folds and changes of texts (data.word_drop and the like) do not go together: "
              "a changed text would show what is held out");
}

// Otherwise a job would fail at its first evaluation, hours after it began.
void require_fit(const Sets& sets, const std::string& kind) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::InvalidInput, "data of kind " + kind + ": " + why);
  };
  if (sets.train->count() == 0) refuse("there is nothing to train on");
  const Form& form = sets.train->form();
  if (form.input_sizes.empty()) refuse("its form has no input_sizes");
  const bool has_classes = form.classes > 0;
  if (form.target_type != (has_classes ? at::kLong : at::kFloat)) {
    refuse(has_classes ? "its form has classes, so target_type must be at::kLong"
                       : "its form has no classes, so target_type must be at::kFloat");
  }
  if (!sets.test) return;
  if (sets.test->count() == 0) refuse("there is nothing to evaluate on");
  const Form& train = sets.train->form();
  const Form& test = sets.test->form();
  if (train.input_sizes != test.input_sizes || train.input_type != test.input_type ||
      train.target_sizes != test.target_sizes || train.target_type != test.target_type) {
    refuse("samples to evaluate on are of other sizes or types than those to train on");
  }
  if (train.classes != test.classes) {
    refuse(std::to_string(test.classes) + " classes to evaluate on, " +
           std::to_string(train.classes) + " to train on");
  }
}

// Applies the transforms for samples used in evaluation.
std::shared_ptr<const Source> evaluated(std::shared_ptr<const Source> test,
                                        const config::Config& config) {
  if (!test) return nullptr;
  test = transform::transformed(std::move(test), config.get<transform::TransformConfig>("data"),
                                transform::Use::Evaluation);
  return with_targets(std::move(test), config.get<DataConfig>("data"));
}

// The file or folder with the training data, for messages.
std::string trained_on(const config::Config& config) {
  for (const char* key : {"data.train", "data.file", "data.folder"}) {
    const config::Setting* const setting = config.setting(key);
    if (setting != nullptr && !to_plain(setting->value).empty()) return to_plain(setting->value);
  }
  return "the training data";
}

// Names the setting whose file or folder is missing.
Error named_after_setting(const Error& error, const config::Config& config) {
  std::string key;
  std::size_t longest = 0;
  for (const config::Setting& setting : config.settings()) {
    const std::string path = to_plain(setting.value);
    if (setting.section != "data" || setting.type != "path" || path.size() <= longest) continue;
    if (error.message().find(path) == std::string::npos) continue;
    longest = path.size();
    key = setting.key();
  }
  if (key.empty() || error.message().starts_with("data.")) return error;
  return Error(error.code(), key + ": " + error.message());
}

// The setting that selects other evaluation data.
std::string test_setting(const config::Config& config) {
  for (const char* key : {"data.test", "data.file", "data.folder"}) {
    if (config.setting(key) != nullptr) return key;
  }
  return "data.*";
}

// Tables keep a share of their rows for it where data.test is empty; other kinds have data.test
// alone.
bool lacks_test(const Sets& sets, const config::Config& config) {
  return !sets.test && config.setting("data.test") != nullptr &&
         config.setting("data.test_fraction") == nullptr;
}

}  // namespace

void DataRegistry::add_sections(config::Schema& schema) const {
  config::Section& section = schema.section("data", "what is trained on");
  for (const Kind& kind : kinds_) kind.declare(section);
  section.fields<DataConfig>().fields<SamplingConfig>().fields<transform::TransformConfig>();
}

const DataRegistry::Kind& DataRegistry::kind_of(const config::Config& config) const {
  const std::string& name = config.kind("data");
  const auto found = std::ranges::find(kinds_, name, &Kind::name);
  TRIREME_CHECK(found != kinds_.end(), "the schema has data of kind ", name,
                ", the registry has not");
  return *found;
}

Sets DataRegistry::open(const config::Config& config, const Preprocessing* known) const {
  Sets sets = open_sets(config, nullptr);
  if (known == nullptr) return sets;
  const DataChanges changes = changes_between(*known, sets.preprocessing);
  if (!changes.names.empty()) {
    throw Error(ErrorCode::InvalidInput,
                trained_on(config) +
                    " has changed since the job was trained: " + joined(changes.names) +
                    ". The model's weights belong to the names that it was trained with: restore "
                    "the data, or begin a new job with another --output");
  }
  if (changes.statistics.empty()) return sets;
  sets = open_sets(config, known);
  sets.notes.push_back(trained_on(config) + " has changed since the job was trained: " +
                       joined(changes.statistics) + "; what the checkpoint has is used");
  return sets;
}

Sets DataRegistry::open_sets(const config::Config& config, const Preprocessing* learned) const {
  const Kind& kind = kind_of(config);
  const auto& changes = config.get<transform::TransformConfig>("data");
  SamplingConfig sampling = config.get<SamplingConfig>("data");
  const auto& reading = config.get<DataConfig>("data");
  require_whole(config);
  Sets sets;
  try {
    sets = kind.learn ? kind.learn(config, {.sampling = sampling, .known = learned})
                      : kind.open(config);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::NotFound) throw;
    throw named_after_setting(error, config);
  }
  if (kind.learn) sampling.folds = 0;  // `learn` has already held out the fold
  TRIREME_CHECK(sets.train != nullptr, "data of kind ", kind.name, " has no training set");
  Preprocessing known = std::move(sets.preprocessing);
  known.source = sets.train->form();
  sets = divided(std::move(sets), sampling);
  if (kind.name == "audio" && !reading.extra.empty()) {
    throw Error(ErrorCode::InvalidInput, "data.extra has pictures, and these data are sounds");
  }
  sets.train = with_extra(std::move(sets.train), reading);
  require_fit(sets, kind.name);
  if (lacks_test(sets, config)) {
    sets.notes.emplace_back("no test data: set data.test to evaluate");
  }
  sets.train = transform::transformed(sets.train, changes, transform::Use::Training);
  sets.train = resampled(std::move(sets.train), sampling, reading.is_shuffled);
  sets.train = transform::mixed(std::move(sets.train), changes);
  sets.train = with_targets(std::move(sets.train), reading);
  sets.test = evaluated(std::move(sets.test), config);
  sets.plain = nullptr;
  known.form = sets.train->form();
  sets.preprocessing = std::move(known);
  return sets;
}

std::shared_ptr<const Source> DataRegistry::open_test(const config::Config& config,
                                                      const Preprocessing& known) const {
  const Kind& kind = kind_of(config);
  const auto& sampling = config.get<SamplingConfig>("data");
  // With folds, the samples for evaluation are part of the training data.
  if (!kind.open_test || sampling.folds > 0) return open(config, &known).test;
  std::shared_ptr<const Source> test;
  try {
    test = kind.open_test(config, known);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::NotFound) throw;
    throw Error(error.code(), named_after_setting(error, config).message() +
                                  ". Name the data to evaluate on where they are now: " +
                                  test_setting(config) + "=PATH");
  }
  if (!test) return nullptr;
  if (test->count() == 0) {
    throw Error(ErrorCode::InvalidInput,
                "data of kind " + kind.name + ": there is nothing to evaluate on");
  }
  test = evaluated(with_kept_classes(std::move(test), sampling), config);
  const Form& form = test->form();
  if (form.input_sizes != known.form.input_sizes || form.input_type != known.form.input_type ||
      form.target_sizes != known.form.target_sizes) {
    throw Error(ErrorCode::InvalidInput,
                "data of kind " + kind.name +
                    ": samples to evaluate on have other sizes or types than the samples that the "
                    "model was trained on");
  }
  return test;
}

Inputs DataRegistry::open_inputs(const config::Config& config, const Preprocessing& known,
                                 const std::filesystem::path& path) const {
  const Kind& kind = kind_of(config);
  if (!kind.open_inputs) {
    throw Error(ErrorCode::Unsupported,
                "data.kind = \"" + kind.name + "\" cannot be predicted from files");
  }
  if (!std::filesystem::exists(path)) {
    throw Error(ErrorCode::NotFound, path.string() + " does not exist");
  }
  Inputs inputs = kind.open_inputs(config, known, path);
  inputs.source = transform::transformed(std::move(inputs.source),
                                         config.get<transform::TransformConfig>("data"),
                                         transform::Use::Evaluation);
  return inputs;
}

}  // namespace trireme::data
