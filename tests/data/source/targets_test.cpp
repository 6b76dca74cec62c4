// Goal:   the target can be the sample itself, with the same augmentation.
// Method: synthetic images through the registry, with and without data.target.

#include "trireme/data/source/targets.h"

#include <gtest/gtest.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/data/kinds.h"
#include "trireme/data/registry.h"

namespace trireme::data {
namespace {

Sets open_made_up(const std::string& more) {
  DataRegistry registry;
  add_kinds(registry);
  config::Schema schema;
  registry.add_sections(schema);
  const std::string text = "[data]\nkind = \"synthetic\"\ncount = 5\ntest_count = 3\n" + more;
  return registry.open(config::read_config(schema, {.files = {{"job.toml", text}}}));
}

TEST(Targets, AreInputsIfSelected) {
  const std::string images =
      "task = \"images\"\nsizes = [1, 4, 3]\npad_crop = 1\nhorizontal_flip = true\n";
  const Sets sets = open_made_up(images + "target = \"input\"\n");
  for (const auto& source : {sets.train, sets.test}) {
    EXPECT_EQ(source->form().target_sizes, source->form().input_sizes);
    EXPECT_EQ(source->form().classes, 0);
    std::vector<float> input(12), target(12);
    source->read(2, {.seed = 1, .epoch = 3, .sample = 2}, input.data(), target.data());
    EXPECT_EQ(input, target);
    EXPECT_NE(input, std::vector<float>(12));
  }
  EXPECT_GT(open_made_up(images).train->form().classes, 0);
  EXPECT_THROW(open_made_up("task = \"tokens\"\nsizes = [6]\ntarget = \"input\"\n"), Error);
}

}  // namespace
}  // namespace trireme::data
