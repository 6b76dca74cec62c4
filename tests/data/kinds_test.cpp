// Goal:   `[data]` of a recipe opens the data that it describes, and a program can add its own
//         kinds.
// Method: recipes as text, read with the schema; checks the forms of the sets.

#include "trireme/data/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/data/counting_source.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/data_config.h"
#include "trireme/data/form.h"
#include "trireme/data/memory/synthetic_source.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/source.h"

namespace trireme::data {
namespace {

DataRegistry built_in() {
  DataRegistry registry;
  add_kinds(registry);
  return registry;
}

config::Config read(const std::string& text) {
  config::Schema schema;
  built_in().add_sections(schema);
  return config::read_config(schema, {.files = {{"job.toml", text}}});
}

TEST(DataKinds, OpensWhatARecipeNames) {
  const config::Config config = read(R"(
      [data]
      kind = "synthetic"
      count = 30
      sizes = [3, 8, 8]
      num_workers = 2
      drop_last = true
      resize = [4, 4]
      pad_crop = 1
      mean = [0.5, 0.5, 0.5]
      std = [0.1, 0.2, 0.3])");
  const Sets sets = built_in().open(config);
  EXPECT_EQ(sets.train->count(), 30);
  EXPECT_THAT(sets.train->form().input_sizes, ::testing::ElementsAre(3, 4, 4));
  EXPECT_THAT(sets.test->form().input_sizes, ::testing::ElementsAre(3, 4, 4));
  EXPECT_EQ(sets.train->form().input_bytes(), 48U * 4);
  EXPECT_EQ(sets.train->form().target_bytes(), 8U);
  const auto& how = config.get<DataConfig>("data");
  EXPECT_EQ(how.threads, 2);
  EXPECT_TRUE(how.is_last_dropped);
  EXPECT_TRUE(how.is_shuffled);
}

TEST(DataKinds, SaysWhereThereAreNoTestData) {
  const TemporaryFolder folder("no-test");
  std::filesystem::create_directory(folder.path() / "cat");
  write_file_atomically(folder.path() / "cat" / "a.png", "");
  const std::string path = "\"" + folder.path().string() + "\"\n";
  const std::string recipe = "[data]\nkind = \"images\"\ntrain = " + path;
  EXPECT_THAT(built_in().open(read(recipe)).notes,
              ::testing::ElementsAre("no test data: set data.test to evaluate"));
  EXPECT_THAT(built_in().open(read(recipe + "test = " + path)).notes, ::testing::IsEmpty());
}

TEST(DataKinds, FindsMistakesBeforeAnyFileIsOpened) {
  EXPECT_THROW(read("[data]\nkind = \"synthetic\"\nsizes = [1, 2]"), Error);
  EXPECT_THROW(read("[data]\nkind = \"idx\"\nset = \"other\""), Error);
  EXPECT_THROW(read("[data]\nmean = [1.0]"), Error);
  EXPECT_THROW(read("[data]\nresize = [5]"), Error);
  EXPECT_THROW(read("[data]\nkind = \"nonsense\""), Error);
}

struct PairConfig {
  std::int64_t train = 1, test = 1;
  bool is_other = false;

  static void describe(config::Fields<PairConfig>& f) {
    f.add("train", &PairConfig::train);
    f.add("test", &PairConfig::test);
    f.add("other", &PairConfig::is_other);
  }
};

TEST(DataKinds, RefusesSetsThatAreEmptyOrUnlikeEachOther) {
  DataRegistry registry;
  registry.add<PairConfig>("pair", "two sets", [](const PairConfig& c) -> Sets {
    memory::SyntheticConfig other{
        .task = memory::SyntheticTask::Regression, .count = 3, .test_count = 0};
    const auto strange = memory::open_synthetic(other).train;
    return {std::make_shared<CountingSource>(c.train),
            c.is_other ? strange : std::make_shared<CountingSource>(c.test)};
  });
  config::Schema schema;
  registry.add_sections(schema);
  const auto open = [&](const std::string& text) {
    return registry.open(
        config::read_config(schema, {.files = {{"job.toml", "[data]\nkind = \"pair\"\n" + text}}}));
  };
  EXPECT_NO_THROW(open(""));
  EXPECT_THROW(open("train = 0"), Error);
  EXPECT_THROW(open("test = 0"), Error);
  EXPECT_THROW(open("other = true"), Error);
}

// A source of a user whose form contradicts itself.
class UnfitSource final : public Source {
 public:
  explicit UnfitSource(Form form) : form_(std::move(form)) {}
  std::int64_t count() const override { return 1; }
  const Form& form() const override { return form_; }
  void read(std::int64_t, const SampleKey&, void*, void*) const override {}

 private:
  Form form_;
};

TEST(DataKinds, RefusesFormsThatContradictThemselves) {
  const auto mistake_in = [](const Form& form) -> std::string {
    DataRegistry registry;
    registry.add<PairConfig>("unfit", "", [form](const PairConfig&) -> Sets {
      return {.train = std::make_shared<UnfitSource>(form), .test = nullptr};
    });
    config::Schema schema;
    registry.add_sections(schema);
    try {
      registry.open(config::read_config(schema, {.overrides = {"data.kind=unfit"}}));
    } catch (const Error& error) {
      return error.message();
    }
    return "none";
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(mistake_in({.input_sizes = {2}, .classes = 3}), "none");
  EXPECT_EQ(mistake_in({.input_sizes = {2}, .target_type = at::kFloat}), "none");
  EXPECT_THAT(mistake_in({.classes = 3}), HasSubstr("no input_sizes"));
  EXPECT_THAT(mistake_in({.input_sizes = {2}}), HasSubstr("target_type must be at::kFloat"));
  EXPECT_THAT(mistake_in({.input_sizes = {2}, .target_type = at::kFloat, .classes = 3}),
              HasSubstr("target_type must be at::kLong"));
}

TEST(DataKinds, ImagesAreTransformedAndNothingElse) {
  EXPECT_THROW(built_in().open(
                   read("[data]\nkind = \"synthetic\"\ntask = \"tokens\"\nhorizontal_flip = true")),
               Error);
}

struct OwnConfig {
  int count = 3;
  static void describe(config::Fields<OwnConfig>& f) {
    f.add("count", &OwnConfig::count).help("how many");
  }
};

TEST(DataRegistry, TakesKindsOfAProgramsOwn) {
  DataRegistry registry;
  add_kinds(registry);
  registry.add<OwnConfig>("own", "numbers", [](const OwnConfig& c) -> Sets {
    return {.train = std::make_shared<CountingSource>(c.count), .test = nullptr};
  });
  config::Schema schema;
  registry.add_sections(schema);
  const auto config = config::read_config(schema, {.overrides = {"data.kind=own", "data.count=5"}});
  EXPECT_EQ(registry.open(config).train->count(), 5);
  EXPECT_EQ(registry.open(config).test, nullptr);
}

}  // namespace
}  // namespace trireme::data
