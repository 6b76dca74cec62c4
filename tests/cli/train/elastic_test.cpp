// Goal:   the launcher reads a recipe's section [elastic], where the worker has one.
// Method: schemas with and without it, and recipes by hand.

#include "trireme/cli/train/elastic.h"

#include <gtest/gtest.h>

#include "trireme/base/config/fields.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/config/schema.h"

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;

struct Settings {
  bool enabled = false;
  int least = 1;
  int most = 128;
  int restarts = 10;
  Duration orphan_timeout = 60s;

  static void describe(config::Fields<Settings>& f) {
    f.add("enabled", &Settings::enabled).help("whether");
    f.add("min", &Settings::least).help("least");
    f.add("max", &Settings::most).help("most");
    f.add("restarts", &Settings::restarts).help("how often");
    f.add("orphan_timeout", &Settings::orphan_timeout).help("how long");
  }
};

config::Config read(const std::vector<std::string>& overrides) {
  config::Schema schema;
  schema.section("elastic", "workers that come and go").fields<Settings>();
  return config::read_config(schema, {.overrides = overrides});
}

TEST(RecipeElastic, IsReadWhereItIsEnabled) {
  EXPECT_FALSE(elastic_of(read({})));
  EXPECT_FALSE(elastic_of(read({"elastic.min=2"})));
  const auto elastic = elastic_of(read({"elastic.enabled=true", "elastic.min=2", "elastic.max=6",
                                        "elastic.restarts=3", "elastic.orphan_timeout=1500 ms"}));
  ASSERT_TRUE(elastic);
  EXPECT_EQ(elastic->least, 2);
  EXPECT_EQ(elastic->most, 6);
  EXPECT_EQ(elastic->restarts_max, 3);
  EXPECT_EQ(elastic->orphan_timeout, 1500ms);
  EXPECT_EQ(elastic_settings(read({"elastic.min=2"})).least, 2);
}

TEST(RecipeElastic, AWorkerWithoutTheSectionHasDefaults) {
  const config::Config empty = config::read_config(config::Schema(), {});
  EXPECT_FALSE(elastic_of(empty));
  EXPECT_EQ(elastic_settings(empty).restarts_max, 10);
}

}  // namespace
}  // namespace trireme::cli
