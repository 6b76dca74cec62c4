// Goal:   the help text and the page show every section, kind and setting with all declared
//         details.
// Method: lines of both texts for the sample schema; each setting of the reader is in both.

#include "trireme/base/config/schema_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/config/sample_config.h"
#include "trireme/base/config/reader.h"

namespace trireme::config {
namespace {

using ::testing::HasSubstr;

TEST(SchemaText, HelpShowsDefaultTypeRangeAndMeaning) {
  const std::string help = to_help(sample_schema());
  EXPECT_THAT(help, HasSubstr("[run] How workers are started.\n"));
  EXPECT_THAT(help, HasSubstr("  ranks = 1                worker processes to start "
                              "(integer, 1 to 4096)\n"));
  EXPECT_THAT(help, HasSubstr("  name                     of the job (optional text)\n"));
  EXPECT_THAT(help, HasSubstr("(number, in 1/step)\n"));
  EXPECT_THAT(help, HasSubstr("  kind = \"gpt\": A decoder-only transformer.\n"));
  EXPECT_THAT(help, HasSubstr("    num_heads = 4     of attention (integer, at least 1)\n"));
}

TEST(SchemaText, PageHasATableForEverySectionAndKind) {
  const std::string page = to_markdown(sample_schema());
  EXPECT_THAT(page, HasSubstr("## `[run]`\n\nHow workers are started.\n"));
  EXPECT_THAT(page,
              HasSubstr("| `ranks` | integer | 1 to 4096 | `1` | worker processes to start |"));
  EXPECT_THAT(page, HasSubstr("| `limit.memory` | byte size | at least 1 MiB | `\"64 MiB\"` |"));
  EXPECT_THAT(page, HasSubstr("| `name` | optional text |  | not set | of the job |"));
  EXPECT_THAT(page, HasSubstr("to run on \\| all where empty")) << "a bar would end the cell";
  EXPECT_THAT(page, HasSubstr("### `kind = \"gpt\"`\n\nA decoder-only transformer.\n"));
  EXPECT_THAT(page, HasSubstr("## Top of the file\n"));
  EXPECT_TRUE(page.ends_with("|\n"));
}

TEST(SchemaText, ContainsEverySettingOfTheReader) {
  const Schema schema = sample_schema();
  const std::string help = to_help(schema);
  const std::string page = to_markdown(schema);
  for (const Setting& setting : read_config(schema, {}).settings()) {
    EXPECT_THAT(help, ::testing::ContainsRegex("\n +" + setting.name)) << setting.key();
    EXPECT_THAT(page, HasSubstr("| `" + setting.name + "` |")) << setting.key();
  }
}

}  // namespace
}  // namespace trireme::config
