// Goal:   numbers and categories of a row are encoded for the model according to the training rows.
// Method: small tables with results computed by hand.

#include "trireme/data/table/input_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/data/table/csv_file.h"
#include "trireme/data/table/fields.h"

namespace trireme::data::table {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FieldsOfATable, AreNumbersOrNames) {
  EXPECT_EQ(number_of(" +1.5 "), 1.5F);
  for (const char* wrong : {"", "nan", "inf", "1e99", "1 2", "x"}) {
    EXPECT_FALSE(number_of(wrong).has_value()) << wrong;
  }
  const Table table = parse_csv("a,b\n10,x\n9,y\n10,x\n", "t.csv");
  EXPECT_THAT(sorted_names({"10", "9"}), ElementsAre("9", "10"));
  EXPECT_THAT(sorted_names({"10", "9", "x"}), ElementsAre("10", "9", "x"));
  EXPECT_EQ(number_in(table, 1, 0, kInputRemedy), 9);
  EXPECT_THROW(number_in(table, 0, 1, kInputRemedy), Error);
}

TEST(InputsOfATable, ArePlacesForEachCategory) {
  const Table table =
      parse_csv("size,colour,target\n1,red,0\n3,blue,0\n1,red,0\n3,green,0\n9,pink,0\n", "t.csv");
  const TableConfig config{.categories = {"colour"}, .targets = {"target"}};
  const InputColumns columns(table, {0, 1, 2, 3}, config);
  EXPECT_EQ(columns.width(), 4);
  // Mean 2, deviation 1; then blue, green, red.
  EXPECT_THAT(columns.encode(table, {0, 1}), ElementsAre(-1, 0, 0, 1, 1, 1, 0, 0));
  EXPECT_THAT(columns.encode(table, {4}), ElementsAre(7, 0, 0, 0)) << "never trained on";
  const Table other = parse_csv("colour,size\ngreen,2\n", "o.csv");
  EXPECT_THAT(columns.encode(other, {0}), ElementsAre(0, 0, 1, 0)) << "in any order";
}

TEST(InputsOfATable, CategoriesThatTrainingDidNotSeeAreReported) {
  const Table table = parse_csv("size,colour\n1,red\n3,blue\n1,pink\n2,red\n9,grey\n", "t.csv");
  const InputColumns columns(table, {0, 1}, {.categories = {"colour"}, .targets = {"target"}});
  EXPECT_THAT(columns.unknown_categories(table, {0, 1, 3}), ::testing::IsEmpty());
  EXPECT_THAT(columns.unknown_categories(table, {0, 2, 3, 4}),
              ElementsAre("t.csv:4: category \"pink\" of column \"colour\" is not in the training "
                          "data and is encoded as zeros (2 of 4 rows have such a category)."));
}

std::string error_of(const Table& table, const RowNumbers& rows, const TableConfig& config) {
  try {
    const InputColumns columns(table, rows, config);
    columns.encode(table, rows);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(InputsOfATable, SayWhatIsWrongAndWhatToDo) {
  std::string text = "x,name,y\n";
  RowNumbers rows;
  for (std::int64_t i = 0; i <= kCategoriesMax; ++i) {
    text += "1,n" + std::to_string(i) + ",0\n";
    rows.push_back(i);
  }
  const Table table = parse_csv(text, "t.csv");
  EXPECT_THAT(error_of(table, {0}, {.targets = {"y"}}),
              HasSubstr("t.csv:2: expected a number in column \"name\", found \"n0\". Correct"));
  EXPECT_THAT(error_of(table, rows, {.categories = {"name"}, .targets = {"y"}}),
              HasSubstr("has 4097 categories; one input per category is supported up to 4096"));
  EXPECT_THAT(error_of(table, {0}, {.inputs = {"x"}, .categories = {"name"}, .targets = {"y"}}),
              HasSubstr("'name' is no input column"));
  EXPECT_THAT(error_of(table, {0}, {.categories = {"nam"}, .targets = {"y"}}),
              HasSubstr("did you mean 'name'?"));
}

}  // namespace
}  // namespace trireme::data::table
