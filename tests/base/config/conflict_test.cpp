// Goal:   settings that a schema refuses together are reported, with alternatives that nothing
//         refuses; a value that is not known contradicts nothing, and a program that read the
//         schema as JSON refuses the same.
// Method: conflicts by hand, and a schema of two sections.

#include "trireme/base/config/conflict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/config/schema_json.h"
#include "trireme/base/error.h"

namespace trireme::config {
namespace {

using ::testing::HasSubstr;

Conflict wet(List values) {
  return {.conditions = {is("is_wet", {{true}}), is("paint", std::move(values))},
          .why = "does not support water",
          .key = "paint",
          .alternatives = {"chalk", "lime", "oil"},
          .remedy = "set is_wet=false"};
}

TEST(Conflict, IsReportedIfAllOfItsConditionsHold) {
  const std::vector<Conflict> all{
      {.conditions = {is_not("coats", {{1}}), is("brush", {{"old"}, {"worn"}})}, .why = "no"}};
  EXPECT_EQ(complaint_of(all, {{"coats", {2}}, {"brush", {"worn"}}}), "no");
  EXPECT_EQ(complaint_of(all, {{"coats", {1}}, {"brush", {"worn"}}}), "");
  EXPECT_EQ(complaint_of(all, {{"coats", {2}}, {"brush", {"new"}}}), "");
  EXPECT_EQ(complaint_of(all, {{"brush", {"worn"}}}), "") << "the coats are not known";
  EXPECT_EQ(complaint_of(all, {{"coats", {}}, {"brush", {"worn"}}}), "") << "or not set";
  EXPECT_EQ(complaint_of(all, {{"coats", {2.0}}, {"brush", {"worn"}}}), "no") << "2 is not 1";
}

TEST(Conflict, NamesAlternativesThatNothingRefuses) {
  std::vector<Conflict> all{wet({{"chalk"}, {"lime"}})};
  const KeyedValues facts{{"is_wet", {true}}, {"paint", {"chalk"}}, {"coats", {3}}};
  EXPECT_EQ(complaint_of(all, facts),
            "paint = \"chalk\" does not support water; use one of oil, or set is_wet=false");
  all.push_back({.conditions = {is("paint", {{"oil"}}), is("coats", {{3}})}, .why = "too thick"});
  EXPECT_EQ(complaint_of(all, facts), "paint = \"chalk\" does not support water; set is_wet=false");
}

struct Wall {
  std::string paint = "oil";
  std::int64_t coats = 1;
  bool is_wet = false;

  static void describe(Fields<Wall>& f) {
    f.add("paint", &Wall::paint);
    f.add("coats", &Wall::coats);
    f.add("is_wet", &Wall::is_wet);
  }
};

TEST(Conflict, OfASchemaIsTheSameForAProgramThatReadTheDescription) {
  Schema schema;
  schema.section("").fields<Wall>();
  schema.refuse(wet({{"chalk"}}));
  schema.refuse({.conditions = {is_not("coats", {{1}, {2}})}, .why = "too many coats"});
  const std::string json = schema_json(schema);
  const Schema copy = schema_from_json(json);
  EXPECT_EQ(schema_json(copy), json);
  for (const Schema* one : {&std::as_const(schema), &copy}) {
    const auto refusal = [&](const std::vector<std::string>& overrides,
                             const KeyedValues& facts = {}) {
      try {
        read_config(*one, {.overrides = overrides}).check_conflicts(facts);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
        return error.message();
      }
      return std::string();
    };
    EXPECT_EQ(refusal({"paint=chalk"}), "");
    EXPECT_THAT(refusal({"paint=chalk", "is_wet=true"}), HasSubstr("use one of lime, oil, or"));
    EXPECT_EQ(refusal({"coats=3"}), "too many coats");
    EXPECT_EQ(refusal({"paint=chalk", "is_wet=true"}, {{"is_wet", {false}}}), "")
        << "facts replace settings";
    EXPECT_EQ(refusal({"coats=2"}, {{"coats", {3}}}), "too many coats");
  }
}

TEST(Conflict, ADescriptionWithoutConflictsIsAccepted) {
  EXPECT_TRUE(schema_from_json("{\"sections\":[]}").conflicts().empty());
}

}  // namespace
}  // namespace trireme::config
