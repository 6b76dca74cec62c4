// Goal:   missing values of a table are rejected with a count of all of them, dropped, or filled in
//         from the training rows.
// Method: small CSV files and JSON lines with missing values, read with each setting.

#include "trireme/data/table/missing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/source/source.h"
#include "trireme/data/table/table_set.h"
#include "trireme/testing/code_of.h"

namespace trireme::data::table {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class MissingValues : public ::testing::Test {
 protected:
  // Values are missing in age and town; only the last row is used for evaluation.
  TableConfig config(const std::string& missing) const {
    return {.train = folder_.path() / "train.csv",
            .test = folder_.path() / "test.csv",
            .categories = {"town"},
            .targets = {"y"},
            .are_columns_standardized = false,
            .missing = missing};
  }

  static std::string error_of(const TableConfig& config) {
    try {
      open_csv(config);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  static std::vector<float> inputs_of(const Source& source) {
    const std::int64_t width = source.form().input_count();
    std::vector<float> all(static_cast<std::size_t>(source.count() * width));
    std::int64_t label = 0;
    for (std::int64_t i = 0; i < source.count(); ++i) {
      source.read(i, {}, all.data() + i * width, &label);
    }
    return all;
  }

  void write(const std::string& name, const std::string& text) {
    write_file_atomically(folder_.path() / name, text);
  }

  void SetUp() override {
    write("train.csv", "age,town,y\n1,A,a\nn/a,B,b\n2,,a\n6,A,b\n ? ,A,b\n");
    write("test.csv", "age,town,y\nNULL,A,a\n");
  }

  TemporaryFolder folder_{"missing"};
};

TEST_F(MissingValues, AreAnErrorThatCountsThemAllAndSaysWhatToDo) {
  const std::string error = error_of(config("error"));
  EXPECT_EQ(testing::code_of([&] { open_csv(config("error")); }), ErrorCode::InvalidInput)
      << "a gap is no damage";
  EXPECT_THAT(error, HasSubstr("train.csv:3: expected a number in column \"age\", found \"n/a\". "
                               "3 values are missing in 3 of 5 rows: \"age\" 2 (lines 3, 6), "
                               "\"town\" 1 (line 4). Set data.missing = \"mean\", \"median\", "
                               "\"drop\" or a number, or remove the rows."));
  TableConfig towns = config("error");
  towns.inputs = {"town"};
  EXPECT_THAT(error_of(towns), HasSubstr("\"drop\", a number or \"value:TEXT\", or remove"));
}

TEST_F(MissingValues, DropLeavesTheirRowsOut) {
  EXPECT_THAT(error_of(config("drop")), HasSubstr("test.csv: data.missing = \"drop\" leaves no"));
  write("test.csv", "age,town,y\n3,A,a\n");
  const Sets sets = open_csv(config("drop"));
  EXPECT_THAT(inputs_of(*sets.train), ElementsAre(1, 1, 6, 1));
  EXPECT_THAT(sets.notes, ElementsAre(HasSubstr("dropped 3 of 5 rows")));
}

// Towns are "", A and B: a missing value is a category of its own.
TEST_F(MissingValues, MeanAndMedianAreThoseOfTheRowsTrainedOn) {
  const Sets mean = open_csv(config("mean"));
  EXPECT_THAT(inputs_of(*mean.train),
              ElementsAre(1, 0, 1, 0, 3, 0, 0, 1, 2, 1, 0, 0, 6, 0, 1, 0, 3, 0, 1, 0));
  EXPECT_THAT(inputs_of(*mean.test), ElementsAre(3, 0, 1, 0));
  EXPECT_THAT(mean.notes, ElementsAre(HasSubstr("filled in 3 missing values (data.missing"),
                                      HasSubstr("test.csv: filled in 1 missing value (data.mi")));
  EXPECT_THAT(inputs_of(*open_csv(config("median")).test), ElementsAre(2, 0, 1, 0));
  write("train.csv", "age,town,y\n1,A,a\n6,A,b\n");
  EXPECT_EQ(inputs_of(*open_csv(config("median")).test).front(), 3.5F);
}

TEST_F(MissingValues, AValueStandsInForNumbersAndCategories) {
  const Sets sets = open_csv(config("-1"));
  EXPECT_THAT(inputs_of(*sets.train),
              ElementsAre(1, 0, 1, 0, -1, 0, 0, 1, 2, 1, 0, 0, 6, 0, 1, 0, -1, 0, 1, 0));
  EXPECT_THAT(error_of(config("value:B")),
              HasSubstr("train.csv:3: column \"age\" has no value, and "
                        "data.missing = \"value:B\" gives no number for it. Use \"mean\", "
                        "\"median\", a number or \"drop\""));
  TableConfig towns = config("value:B");
  towns.inputs = {"town"};
  EXPECT_THAT(inputs_of(*open_csv(towns).train), ElementsAre(1, 0, 0, 1, 0, 1, 1, 0, 1, 0));
}

TEST_F(MissingValues, AWordThatIsNoneOfTheChoicesIsRefused) {
  config::Schema schema;
  schema.section("data").kind<CsvConfig>("csv", "");
  const auto read = [&](const std::string& missing) -> std::string {
    try {
      config::read_config(
          schema, {.files = {{"t.toml", "[data]\nkind = \"csv\"\nmissing = \"" + missing + "\""}}});
      return "";
    } catch (const Error& error) {
      return error.message();
    }
  };
  for (const char* good :
       {"error", "drop", "mean", "median", "0", "-1.5", "value:none", "value:"}) {
    EXPECT_EQ(read(good), "") << good;
  }
  EXPECT_THAT(read("meen"),
              HasSubstr("is not \"error\", \"drop\", \"mean\", \"median\", a number or "
                        "\"value:TEXT\"; did you mean \"mean\"?"));
  EXPECT_THAT(read("unknown"), HasSubstr("\"value:unknown\" uses it as a category"));
  EXPECT_NE(read(""), "");
}

TEST_F(MissingValues, OfTargetsAreDroppedOrAnError) {
  write("train.csv", "age,town,y\n1,A,a\n2,B,NA\n3,A,b\n");
  write("test.csv", "age,town,y\n3,A,a\n");
  EXPECT_THAT(error_of(config("mean")), HasSubstr("A missing target cannot be filled in"));
  EXPECT_EQ(open_csv(config("drop")).train->count(), 2);
  TableConfig named = config("error");
  named.missing_values = {"-"};
  EXPECT_THAT(open_csv(named).train->form().class_names, ElementsAre("NA", "a", "b"));
}

TEST_F(MissingValues, AColumnWithoutAnyValueIsAnError) {
  write("train.csv", "age,town,y\n,A,a\n?,A,b\n");
  EXPECT_THAT(error_of(config("median")), HasSubstr("\"age\" has no value"));
}

TEST_F(MissingValues, OfJsonLinesAreMembersThatAreNullOrNotThere) {
  write("train.jsonl",
        "{\"x\": 1, \"y\": 2}\n{\"y\": 2}\n{\"x\": null, \"y\": 4}\n{\"x\": 3, \"y\": 4}\n");
  TableConfig json{.train = folder_.path() / "train.jsonl",
                   .test_fraction = 0,
                   .targets = {"y"},
                   .are_columns_standardized = false};
  try {
    open_json_lines(json);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("2 values are missing in 2 of 4 rows: \"x\" 2 (lines 2"));
  }
  json.missing = "mean";
  EXPECT_THAT(inputs_of(*open_json_lines(json).train), ElementsAre(1, 2, 2, 3));
}

}  // namespace
}  // namespace trireme::data::table
