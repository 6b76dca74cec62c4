// read_recipe() reads the recipe of a job, and resolves the settings that depend on the machine, so
// that the saved config.toml is complete:
//
//   paths         become absolute, so that the job can be used from any folder. The folder of a
//   data
//                 set that was found in one of its default folders is set explicitly.
//   model.load    settings that the recipe omits come from the config.json of pretrained weights
//                 (trireme/model/hugging_face/pretrained.h) or, if a job is resumed and that file
//                 is gone, from the job's checkpoint.
//
// Errors:        what reading throws; InvalidInput, with all settings concerned, if the recipe
//                contradicts a config.json.
// Thread safety: one thread.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::train {

// `resumed` is the folder of the job that is resumed; empty: a new job.
config::Config read_recipe(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides, const Kinds& kinds,
                           const std::filesystem::path& resumed = {});

}  // namespace trireme::train
