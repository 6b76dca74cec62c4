// Goal:   docs/config.md is what the declarations of the settings say.
// Method: renders the page anew and compares. With TRIREME_REGENERATE=1 in the environment it
// writes
//         the page instead; commit what it wrote.

#include <gtest/gtest.h>

#include <cstdlib>

#include "trireme/base/config/schema.h"
#include "trireme/base/config/schema_text.h"
#include "trireme/base/file.h"
#include "trireme/base/log_config.h"

namespace trireme::config {
namespace {

// Every part that has a section adds it here, in the order in which people read them.
Schema documented_schema() {
  Schema schema;
  schema.section("log", "What the program says about itself, on its standard error.")
      .fields<LogConfig>();
  return schema;
}

std::filesystem::path page() {
  auto folder = std::filesystem::path(__FILE__);
  for (int i = 0; i < 4; ++i) folder = folder.parent_path();
  return folder / "docs" / "config.md";
}

TEST(ConfigPage, IsWhatTheDeclarationsSay) {
  const std::string rendered = to_markdown(documented_schema());
  if (std::getenv("TRIREME_REGENERATE") != nullptr) write_file_atomically(page(), rendered);
  EXPECT_EQ(read_file(page()), rendered)
      << "docs/config.md is out of date; run the tests once with TRIREME_REGENERATE=1";
}

}  // namespace
}  // namespace trireme::config
