// The recipes that `trireme new` writes: short, every line with a comment, and complete, so that
// they train without a change.
//
// Paths:         are absolute, because a job may be started in any folder.
// Thread safety: pure functions.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/cli/starter/look.h"
#include "trireme/cli/starter/table_look.h"

namespace trireme::cli::starter {

// What a recipe is for, in a line, and its text.
struct StarterRecipe {
  std::string what;  // "predicts the class in column "species" ..."
  std::string text;
};

StarterRecipe table_recipe(const std::filesystem::path& data, const TableLook& table,
                           const TablePlan& plan);
StarterRecipe images_recipe(const ImagesLook& images);
StarterRecipe text_recipe(const std::filesystem::path& data, const TextLook& text);

}  // namespace trireme::cli::starter
