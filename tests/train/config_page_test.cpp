// Goal:   docs/config.md is what the declarations of the settings say.
// Method: renders the page anew and compares. With TRIREME_REGENERATE=1 in the environment it
//         writes the page instead; commit what it wrote.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/folders.h"
#include "trireme/base/config/schema_text.h"
#include "trireme/base/file/file.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::train {
namespace {

TEST(ConfigPage, IsWhatTheDeclarationsSay) {
  const std::filesystem::path page = std::filesystem::path(source_folder()) / "docs/config.md";
  const std::string rendered = config::to_markdown(recipe_schema(built_in_kinds()));
  if (std::getenv("TRIREME_REGENERATE") != nullptr) write_file_atomically(page, rendered);
  EXPECT_EQ(read_file(page), rendered)
      << "docs/config.md is out of date; run the tests once with TRIREME_REGENERATE=1";
}

}  // namespace
}  // namespace trireme::train
