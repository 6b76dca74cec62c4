// Goal:   every statement is applied, refused or reported as unknown, with its place and the
//         nearest name; inconsistent schemas are detected.
// Method: statements given directly, without text.

#include "trireme/base/config/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/config/sample_config.h"
#include "trireme/base/error.h"

namespace trireme::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Statement said(std::string key, Value value, int line = 1) {
  return {.key = std::move(key), .value = std::move(value), .place = {.name = "f", .line = line}};
}

// The single mistake in these statements.
std::string mistake(const std::vector<Statement>& statements) {
  const Schema schema = sample_schema();
  Report report;
  Resolver resolver(schema, report);
  resolver.resolve(statements);
  EXPECT_EQ(report.mistakes().size(), 1u) << report.to_text();
  return report.is_empty() ? "" : report.mistakes()[0].key + ": " + report.mistakes()[0].what;
}

TEST(ConfigResolver, AppliesStatementsInOrder) {
  const Schema schema = sample_schema();
  Report report;
  Resolver resolver(schema, report);
  resolver.resolve({said("run.ranks", {std::int64_t{2}}, 3),
                    said("run.ranks", {std::int64_t{4}}, 7),
                    said("model.hidden_size", {std::int64_t{8}}), said("seed", {std::int64_t{9}})});
  ASSERT_TRUE(report.is_empty()) << report.to_text();
  const Config config = resolver.finish();
  EXPECT_EQ(config.get<RunConfig>("run").ranks, 4);
  EXPECT_EQ(config.setting("run.ranks")->origin, "f:7");
  EXPECT_EQ(config.get<MlpConfig>("model").hidden_size, 8);
  EXPECT_EQ(config.get<TopConfig>("").seed, 9);
}

TEST(ConfigResolver, AKindIsAppliedBeforeItsSettings) {
  const Schema schema = sample_schema();
  Report report;
  Resolver resolver(schema, report);
  resolver.resolve(
      {said("model.num_heads", {std::int64_t{2}}), said("model.kind", {std::string("gpt")})});
  ASSERT_TRUE(report.is_empty()) << report.to_text();
  EXPECT_EQ(resolver.finish().get<GptConfig>("model").num_heads, 2);
}

TEST(ConfigResolver, SuggestsTheNearestName) {
  const Value one{std::int64_t{1}};
  EXPECT_EQ(mistake({said("run.rnaks", one)}),
            "run.rnaks: there is no such setting; did you mean run.ranks?");
  EXPECT_EQ(mistake({said("run.limit.flies", one)}),
            "run.limit.flies: there is no such setting; did you mean run.limit.files?");
  EXPECT_EQ(mistake({said("ranks", one)}),
            "ranks: there is no such setting; did you mean run.ranks?");
  EXPECT_EQ(mistake({said("model.knid", one)}),
            "model.knid: there is no such setting; did you mean model.kind?");
  EXPECT_EQ(mistake({said("run.zzzzzz", one)}), "run.zzzzzz: there is no such setting");
  EXPECT_EQ(mistake({said("rnu.ranks", one), said("rnu.grace", one)}),
            "[rnu]: there is no such section; did you mean [run]?");
  EXPECT_EQ(mistake({said("run.kind", one)}), "run.kind: there is no such setting");
}

TEST(ConfigResolver, AnswersANameOfAnotherProgramWithTheRightOne) {
  const Value one{std::int64_t{1}};
  EXPECT_EQ(mistake({said("model.dim", one)}),
            "model.dim: there is no such setting; use model.hidden_size");
  EXPECT_EQ(mistake({said("run.dim", one)}),
            "run.dim: there is no such setting; use model.hidden_size")
      << "also if the name is written in another section";
}

TEST(ConfigResolver, DistinguishesSettingsFromSections) {
  EXPECT_THAT(mistake({said("run", {std::int64_t{1}})}), HasSubstr("is a section, not a setting"));
  EXPECT_THAT(mistake({said("run.ranks.x", {true})}), HasSubstr("is a setting, not a section"));
  EXPECT_THAT(mistake({said("\"run.ranks\"", {true})}), HasSubstr("no such setting"));
}

TEST(ConfigResolver, ReportsSettingsOfOtherKinds) {
  EXPECT_EQ(mistake({said("model.num_heads", {std::int64_t{1}})}),
            "model.num_heads: belongs to the kind \"gpt\", and the kind here is \"mlp\" (default); "
            "set model.kind = \"gpt\"");
  EXPECT_THAT(mistake({said("model.kind", {std::string("gtp")}), said("model.num_heads", {true})}),
              HasSubstr("did you mean \"gpt\"?"))
      << "settings of an unknown kind are not checked";
}

TEST(ConfigResolver, SaysWhatToDoAboutAKindOfAnotherProgram) {
  Schema schema = sample_schema();
  schema.section("model").remedy_for_unknown_kinds("ask its author");
  const auto mistake_of_kind = [&](const char* name) {
    Report report;
    Resolver resolver(schema, report);
    resolver.resolve(
        {said("model.kind", {std::string(name)}), said("model.floors", {std::int64_t{3}})});
    return report.to_text();
  };
  EXPECT_THAT(mistake_of_kind("tower"),
              HasSubstr("\"tower\" is none of \"mlp\", \"gpt\"; ask its author"));
  EXPECT_THAT(mistake_of_kind("tower"), Not(HasSubstr("floors")))
      << "the settings of an unknown kind are unknown, too";
  EXPECT_THAT(mistake_of_kind("gtp"), HasSubstr("did you mean \"gpt\"?"));
  EXPECT_THAT(mistake_of_kind("gtp"), Not(HasSubstr("author")));
  EXPECT_THAT(mistake_of_kind("gpt"), HasSubstr("model.floors: there is no such setting"));
}

TEST(ConfigResolver, ChecksRequirementsIfEachSettingIsValid) {
  EXPECT_EQ(mistake({said("run.backend", {std::string("tcp")})}),
            "[run]: tcp requires at least two ranks");
  EXPECT_THAT(mistake({said("run.backend", {std::string("tcp")}), said("run.rate", {true})}),
              HasSubstr("run.rate"));
}

TEST(ConfigResolver, ReportsUnknownTablesOnce) {
  const Schema schema = sample_schema();
  Report report;
  Resolver resolver(schema, report);
  resolver.open("run", {.name = "f"});
  resolver.open("run.limit", {.name = "f"});
  EXPECT_TRUE(report.is_empty());
  resolver.open("modle", {.name = "f"});
  resolver.open("modle", {.name = "f"});
  resolver.open("modle.deeper", {.name = "f"});
  EXPECT_EQ(report.mistakes().size(), 1u) << report.to_text();
}

TEST(ConfigResolver, RefusesSchemasThatCollide) {
  Report report;
  Schema setting_and_section = sample_schema();
  setting_and_section.section("run.ranks").fields<TopConfig>();
  EXPECT_THROW(Resolver(setting_and_section, report), Error);
  Schema nested_and_section = sample_schema();
  nested_and_section.section("run.limit").fields<TopConfig>();
  EXPECT_THROW(Resolver(nested_and_section, report), Error);
}

}  // namespace
}  // namespace trireme::config
