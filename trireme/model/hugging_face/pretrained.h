// Reads a recipe whose model.load names pretrained weights. Settings that the recipe omits come
// from the config.json that belongs to the weights:
//
//   [model]          the kind, sizes, epsilons and positions of config.json
//   data.tokenizer   the folder of config.json, if it has a tokenizer, data.kind is text, and the
//                    recipe has neither data.tokenizer nor data.unit
//
// The launcher and the worker read recipes this way, so that both report the same mistakes.
//
// Errors:        the errors of read_config() and read_hugging_face_config(); NotFound if model.load
//                does not exist and the recipe does not state model.kind; InvalidInput if the
//                recipe contradicts config.json, with every setting that does.
// Thread safety: pure, except for reading files; any thread.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/base/config/reader.h"

namespace trireme::model {

config::Config read_with_pretrained(const config::Schema& schema, config::Sources sources);

// The config.json that belongs to model.load of these sources; empty if none does.
std::filesystem::path config_json_of(const config::Schema& schema, const config::Sources& sources);

// What an earlier run of the same job had, for a job that is resumed after its config.json is gone:
// the settings of [model] and data.tokenizer of `saved`. Empty if the sources have a config.json,
// or never mention model.load.
std::vector<config::GivenSetting> settings_of_earlier_run(const config::Schema& schema,
                                                          const config::Sources& sources,
                                                          const config::ConfigText& saved);

}  // namespace trireme::model
