// Goal:   a schema that was written as JSON and read back finds the same mistakes, shows the same
//         help and resolves to the same text as the original.
// Method: one schema with every type of field, compared with its copy on valid and invalid input.

#include "trireme/base/config/schema_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/config/described_field.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/config/schema_text.h"
#include "trireme/base/error.h"

namespace trireme::config {
namespace {

using namespace std::chrono_literals;

enum class Colour { Red, Blue };

struct Common {
  std::int64_t count = 3;
  double rate = 0.5;
  std::string name = "x";
  std::chrono::milliseconds pause = 5ms;
  ByteSize room = ByteSize{1024};
  Colour colour = Colour::Red;
  std::vector<int> widths = {1, 2};
  std::optional<double> limit;
  bool is_on = true;

  static void describe(Fields<Common>& f) {
    f.add("count", &Common::count).range(1, 10).help("how many");
    f.add("rate", &Common::rate).at_least(0).unit("a step");
    f.add("name", &Common::name);
    f.add("pause", &Common::pause).at_most(1s);
    f.add("room", &Common::room);
    f.add("colour", &Common::colour).names({{"red", Colour::Red}, {"blue", Colour::Blue}});
    f.add("widths", &Common::widths).at_least(1).synonyms({"hidden_dims"});
    f.add("limit", &Common::limit).at_least(0);
    f.add("is_on", &Common::is_on);
  }
};

struct Small {
  int width = 4;
  static void describe(Fields<Small>& f) { f.add("width", &Small::width).at_least(1); }
};
struct Big {
  int depth = 2;
  static void describe(Fields<Big>& f) { f.add("depth", &Big::depth).at_least(1); }
};

Schema original() {
  Schema schema;
  schema.section("run", "how it runs").fields<Common>();
  schema.section("model", "what is trained")
      .kind<Small>("small", "a small one")
      .kind<Big>("big", "a big one")
      .remedy_for_unknown_kinds("ask its author");
  return schema;
}

std::string outcome(const Schema& schema, const std::vector<std::string>& overrides) {
  try {
    return read_config(schema, {.overrides = overrides}).to_toml();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(SchemaJson, TheCopyBehavesLikeTheOriginal) {
  const Schema first = original();
  const Schema second = schema_from_json(schema_json(first));
  EXPECT_EQ(to_help(second), to_help(first));
  EXPECT_EQ(schema_json(second), schema_json(first));
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"run.count=7", "run.limit=2.5", "model.kind=big", "model.depth=9"},
      {"run.count=0", "run.rate=-1", "run.colour=green", "run.widths=0,1"},
      {"run.count=eleven", "run.pause=2 s", "run.pause=5 parsecs", "run.is_on=perhaps"},
      {"run.room=2 MiB", "run.pause=-1 ms", "run.limit=-3"},
      {"model.depth=3"},
      {"model.kind=bigg"},
      {"model.kind=zebra", "model.stripes=3"},
      {"run.cuont=3", "nothing"},
      {"run.hidden_dims=3"},
  };
  for (const auto& overrides : cases) {
    EXPECT_EQ(outcome(second, overrides), outcome(first, overrides));
  }
}

TEST(SchemaJson, OtherTextIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"sections\":[{}]}", "{\"sections\":3}"}) {
    EXPECT_THROW(schema_from_json(text), Error) << text;
  }
}

TEST(DescribedField, KeepsItsDefaultUntilSet) {
  const DescribedField field({.name = "n",
                              .help = "",
                              .type = "integer",
                              .range = "",
                              .unit = "",
                              .shape = {},
                              .default_value = {std::int64_t{4}},
                              .least = {},
                              .most = {std::int64_t{9}},
                              .names = {},
                              .synonyms = {}});
  DescribedValues values;
  EXPECT_EQ(field.get(&values), Value{std::int64_t{4}});
  EXPECT_THROW(field.set(&values, {std::int64_t{10}}), Error);
  EXPECT_THROW(field.set(&values, {true}), Error);
  field.set(&values, {std::int64_t{9}});
  EXPECT_EQ(field.get(&values), Value{std::int64_t{9}});
}

}  // namespace
}  // namespace trireme::config
