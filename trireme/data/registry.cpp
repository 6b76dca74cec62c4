#include "trireme/data/registry.h"

#include <string>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/data_config.h"
#include "trireme/data/joined_source.h"
#include "trireme/data/reconstruction_source.h"
#include "trireme/data/sampling.h"
#include "trireme/data/sequence/text_config.h"
#include "trireme/data/source.h"
#include "trireme/data/tasks_source.h"
#include "trireme/data/transform/mixed_source.h"
#include "trireme/data/transform/transform_config.h"
#include "trireme/data/transform/transformed_source.h"

namespace trireme::data {
namespace {

// A changed text reads on behind its window, where there may be one of another fold.
void require_whole(const config::Config& config) {
  const auto* text = config.find<sequence::TextConfig>("data");
  if (text == nullptr || text->changes().is_nothing()) return;
  if (config.get<SamplingConfig>("data").folds == 0) return;
  throw Error(ErrorCode::InvalidInput,
              "data.folds and changes of texts (data.word_drop and the like) do not go together: "
              "a changed text would show what is held out");
}

// Else a job fails at its first evaluation, hours after it began.
void require_fit(const Sets& sets, const std::string& kind) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::InvalidInput, "data of kind " + kind + ": " + why);
  };
  if (sets.train->count() == 0) refuse("there is nothing to train on");
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

}  // namespace

void Registry::add_sections(config::Schema& schema) const {
  config::Section& section = schema.section("data", "what is trained on");
  for (const Kind& kind : kinds_) kind.declare(section);
  section.fields<DataConfig>().fields<SamplingConfig>().fields<transform::TransformConfig>();
}

Sets Registry::open(const config::Config& config) const {
  const std::string& name = config.kind("data");
  for (const Kind& kind : kinds_) {
    if (kind.name != name) continue;
    const auto& changes = config.get<transform::TransformConfig>("data");
    const auto& sampling = config.get<SamplingConfig>("data");
    const auto& reading = config.get<DataConfig>("data");
    require_whole(config);
    Sets sets = kind.open(config);
    TRIREME_CHECK(sets.train != nullptr, "data of kind ", name, " has no training set");
    sets = divided(std::move(sets), sampling);
    if (name == "audio" && !reading.extra.empty()) {
      throw Error(ErrorCode::InvalidInput, "data.extra has pictures, and these data are sounds");
    }
    sets.train = with_extra(std::move(sets.train), reading);
    require_fit(sets, name);
    sets = {.train = transform::transformed(sets.train, changes, transform::Use::Training),
            .test = transform::transformed(sets.test, changes, transform::Use::Evaluation)};
    sets.train = resampled(std::move(sets.train), sampling, reading.is_shuffled);
    sets.train = transform::mixed(std::move(sets.train), changes);
    if (reading.target == Target::Input) {
      sets.train = std::make_shared<ReconstructionSource>(sets.train);
      if (sets.test) sets.test = std::make_shared<ReconstructionSource>(sets.test);
    }
    sets.train = with_tasks(std::move(sets.train), reading);
    sets.test = with_tasks(std::move(sets.test), reading);
    return sets;
  }
  TRIREME_CHECK(false, "the schema has data of kind ", name, ", the registry has not");
  return {};
}

}  // namespace trireme::data
