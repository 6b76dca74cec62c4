// Goal:   the launcher reads a recipe's section [elastic] if the worker has one, and how long a
//         worker may take to join.
// Method: schemas with and without it, and handmade recipes.

#include "trireme/cli/train/elastic.h"

#include <gtest/gtest.h>

#include <chrono>

#include "trireme/base/config/fields.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/config/schema.h"
#include "trireme/train/recovery/elastic_config.h"

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;

struct Sync {
  std::chrono::seconds timeout{300};
  static void describe(config::Fields<Sync>& f) { f.add("timeout", &Sync::timeout).help(""); }
};

config::Config read(const std::vector<std::string>& overrides, bool has_sync = false) {
  config::Schema schema;
  if (has_sync) schema.section("sync", "").fields<Sync>();
  schema.section(train::kElasticSection, "").fields<train::ElasticConfig>();
  return config::read_config(schema, {.overrides = overrides});
}

TEST(RecipeElastic, IsReadIfItIsEnabled) {
  EXPECT_FALSE(elastic_of(read({})));
  EXPECT_FALSE(elastic_of(read({"elastic.min_workers=2"})));
  const auto elastic =
      elastic_of(read({"elastic.enabled=true", "elastic.min_workers=2", "elastic.max_workers=6",
                       "elastic.max_restarts=3", "elastic.orphan_timeout=15 s"}));
  ASSERT_TRUE(elastic);
  EXPECT_EQ(elastic->least, 2);
  EXPECT_EQ(elastic->most, 6);
  EXPECT_EQ(elastic->restarts_max, 3);
  EXPECT_EQ(elastic->orphan_timeout, 15s);
  EXPECT_EQ(elastic_settings(read({"elastic.min_workers=2"})).least, 2);
  EXPECT_EQ(elastic->join_max, 0s) << "the worker has no sync.timeout";
  EXPECT_EQ(elastic_settings(read({"sync.timeout=2 s"}, true)).join_max, 16s);
}

TEST(RecipeElastic, OptionsOfTheLauncherReachTheWorkers) {
  cluster::launch::JobSpec spec;
  spec.elastic = {.least = 2, .most = 5};
  std::vector<std::string> wanted{"elastic.enabled=true", "elastic.min_workers=2",
                                  "elastic.max_workers=5"};
  EXPECT_EQ(elastic_overrides(read({}), spec), wanted);
  spec.hosts = {.list = {{.name = "a", .ranks = 2}}};
  EXPECT_EQ(elastic_overrides(read({}), spec), wanted) << "one host, wherever it is";
  spec.hosts->list.push_back({.name = "b", .ranks = 2});
  wanted.emplace_back("elastic.spread=true");
  EXPECT_EQ(elastic_overrides(read({}), spec), wanted);
}

TEST(RecipeElastic, AWorkerWithoutTheSectionHasDefaults) {
  const config::Config empty = config::read_config(config::Schema(), {});
  EXPECT_FALSE(elastic_of(empty));
  EXPECT_EQ(elastic_settings(empty).restarts_max, 10);
  EXPECT_TRUE(elastic_overrides(empty, {}).empty());
}

}  // namespace
}  // namespace trireme::cli
