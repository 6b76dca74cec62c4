// Goal:   a struct's description yields its fields in order, those of nested structs under their
//         name, and its requirements.
// Method: a nested struct, set and read through the type-erased fields.

#include "trireme/base/config/fields.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::config {
namespace {

struct Range {
  int least = 0;
  int most = 10;

  static void describe(Fields<Range>& f) {
    f.add("least", &Range::least).help("the least");
    f.add("most", &Range::most).range(0, 100).unit("items");
    f.require([](const Range& r) { return r.least <= r.most ? "" : "least is above most"; });
  }
};

struct Outer {
  std::string name;
  Range range;

  static void describe(Fields<Outer>& f) {
    f.add("name", &Outer::name);
    f.nest("range", &Outer::range);
  }
};

TEST(ConfigFields, KeepTheOrderOfDeclaration) {
  Fields<Outer> fields;
  Outer::describe(fields);
  ASSERT_EQ(fields.all().size(), 3u);
  EXPECT_EQ(fields.all()[0]->name(), "name");
  EXPECT_EQ(fields.all()[1]->name(), "range.least");
  EXPECT_EQ(fields.all()[2]->name(), "range.most");
}

TEST(ConfigFields, OfNestedStructsAreFieldsLikeOthers) {
  Fields<Outer> fields;
  Outer::describe(fields);
  const Field& most = *fields.all()[2];
  Outer outer;
  most.set(&outer, {std::int64_t{5}});
  EXPECT_EQ(outer.range.most, 5);
  EXPECT_EQ(most.get(&outer), Value{std::int64_t{5}});
  EXPECT_EQ(most.range(), "0 to 100");
  EXPECT_EQ(most.type(), "integer");
  EXPECT_EQ(most.unit(), "items");
  EXPECT_EQ(fields.all()[1]->help(), "the least");
  EXPECT_TRUE(fields.all()[0]->shape().is_text);
  EXPECT_FALSE(most.shape().is_text);
}

TEST(ConfigFields, RequirementsOfNestedStructsAreChecked) {
  Fields<Outer> fields;
  Outer::describe(fields);
  ASSERT_EQ(fields.requirements().size(), 1u);
  Outer outer;
  EXPECT_EQ(fields.requirements()[0](outer), "");
  outer.range.least = 11;
  EXPECT_EQ(fields.requirements()[0](outer), "least is above most");
}

TEST(ConfigFields, NamesMustBeWords) {
  Fields<Outer> fields;
  for (const char* name : {"", "a.b", "A", "a b", "a-b", "ü"}) {
    EXPECT_THROW(fields.add(name, &Outer::name), Error) << name;
  }
  EXPECT_NO_THROW(fields.add("a_1", &Outer::name));
}

}  // namespace
}  // namespace trireme::config
