// read_recipe() reads the recipe of a job that is to be trained, and settles what depends on where
// that happens, so that the saved config.toml says everything:
//
//   paths         are absolute: the job can be used from any folder. A data set that was found in
//                 one of its usual folders is named by that.
//   model.load    settings that the recipe omits come from the config.json of pretrained weights
//                 (trireme/model/hugging_face/pretrained.h) or, if a job is resumed and that file
//                 is gone, from the job's checkpoint.
//
// Errors:  what reading throws; InvalidInput where the recipe contradicts a config.json, with every
//          setting that does.
// Threads: one.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::train {

// `resumed` is the folder of the job that is resumed; empty: a job begins.
config::Config read_recipe(const std::filesystem::path& file,
                           const std::vector<std::string>& overrides, const Kinds& kinds,
                           const std::filesystem::path& resumed = {});

}  // namespace trireme::train
