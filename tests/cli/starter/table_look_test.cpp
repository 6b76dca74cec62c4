// Goal:   `trireme new` recognizes the format of a table, which columns a model can use, and
// whether
//         a class or a number is predicted.
// Method: small tables made up by the test.

#include "trireme/cli/starter/table_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cli::starter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TableLookTest : public ::testing::Test {
 protected:
  TableLook look(const std::string& text) const {
    const auto file = folder_.path() / "table.csv";
    write_file_atomically(file, text);
    return look_at_table(file);
  }
  static std::string message(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
    return "no error";
  }
  // Forty rows: two columns that can be used, and four that cannot.
  static std::string flowers() {
    std::string text = "id,length,colour,note,same,none,species\n";
    for (int i = 0; i < 240; ++i) {
      text += std::to_string(i + 7) + "," + std::to_string(i % 5) + ".5," +
              (i % 2 == 0 ? "white" : "violet") + ",note " + std::to_string(i) + ",x,," +
              (i % 3 == 0 ? "rose" : "iris") + "\n";
    }
    return text;
  }

  TemporaryFolder folder_{"table-look"};
};

TEST_F(TableLookTest, UsesTheColumnsThatSaySomething) {
  const TableLook table = look(flowers());
  EXPECT_EQ(table.kind, "csv");
  EXPECT_EQ(table.delimiter, ",");
  EXPECT_EQ(table.rows, 240);
  const TablePlan plan = plan_table(table, "species", Predicted::Class);
  EXPECT_EQ(plan.classes, 2u);
  EXPECT_THAT(plan.inputs, ElementsAre("length", "colour"));
  EXPECT_THAT(plan.categories, ElementsAre("colour"));
  EXPECT_THAT(plan.left_out, ElementsAre("id (numbers the rows)", "note (240 different texts)",
                                         "same (one value only)", "none (no values)"));
  EXPECT_EQ(plan.missing, "");
}

TEST_F(TableLookTest, FindsTheDelimiterAndJsonLines) {
  for (const char* delimiter : {",", ";", "\t", "|"}) {
    const TableLook table = look(std::string("\"a, b\"") + delimiter + "c\n1" + delimiter + "2\n");
    EXPECT_EQ(table.delimiter, delimiter);
    EXPECT_EQ(table.columns.front().name, "a, b");
  }
  const TableLook lines = look("{\"a\": 1, \"b\": {\"c\": \"x\"}}\n{\"a\": 2}\n");
  EXPECT_EQ(lines.kind, "json_lines");
  EXPECT_EQ(lines.delimiter, "");
  EXPECT_EQ(lines.column("b.c").missing, 1);
  EXPECT_FALSE(lines.column("b.c").is_number);
}

TEST_F(TableLookTest, GuessesClassesAndNumbers) {
  std::string text = "few,many,half,name\n";
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(i % 4) + "," + std::to_string(i * i) + "," + std::to_string(i % 2) +
            ".5,n" + std::to_string(i % 3) + "\n";
  }
  const TableLook table = look(text);
  EXPECT_EQ(guess_predicted(table.column("few")), Predicted::Class);
  EXPECT_EQ(guess_predicted(table.column("many")), Predicted::Number);
  EXPECT_EQ(guess_predicted(table.column("half")), Predicted::Number);
  EXPECT_EQ(guess_predicted(table.column("name")), Predicted::Class);
}

TEST_F(TableLookTest, MissingValuesAreFilledInOrTheirRowsDropped) {
  const TableLook inputs = look("a,b\n1,x\n,y\nNA,x\n3,y\n");
  EXPECT_EQ(inputs.column("a").missing, 2);
  EXPECT_TRUE(inputs.column("a").is_number);
  EXPECT_EQ(plan_table(inputs, "b", Predicted::Class).missing, "mean");
  const TableLook targets = look("a,b\n1,x\n5,\n2,x\n3,y\n");
  EXPECT_EQ(plan_table(targets, "b", Predicted::Class).missing, "drop");
}

TEST_F(TableLookTest, RefusesWhatCannotBePredicted) {
  const TableLook table = look(flowers());
  EXPECT_THAT(message([&] { plan_table(table, "specie", Predicted::Class); }),
              HasSubstr("the columns are: id, length"));
  EXPECT_THAT(message([&] { plan_table(table, "note", Predicted::Class); }),
              HasSubstr("240 different values in 240 rows"));
  EXPECT_THAT(message([&] { plan_table(table, "id", Predicted::Class); }),
              HasSubstr("--predict number"));
  EXPECT_THAT(message([&] { plan_table(table, "same", Predicted::Class); }), HasSubstr("only one"));
  EXPECT_THAT(message([&] { plan_table(table, "note", Predicted::Number); }),
              HasSubstr("holds texts"));
  EXPECT_THAT(message([&] { plan_table(look("a,b\n1,x\n1,y\n1,x\n"), "b", Predicted::Class); }),
              HasSubstr("no column can be used"));
}

TEST_F(TableLookTest, RefusesWhatIsNoTable) {
  EXPECT_THAT(message([&] { look("a,b\n"); }), HasSubstr("has no rows"));
  EXPECT_THAT(message([&] { look("only\n1\n"); }), HasSubstr("has one column"));
  EXPECT_THAT(message([&] { look("a,b\n1\n"); }), HasSubstr("1 fields for 2 columns"));
  EXPECT_THROW(look_at_table(folder_.path() / "gone.csv"), Error);
}

TEST_F(TableLookTest, ReadsTheBeginningOfALargeFile) {
  std::string text = "a,b\n";
  const std::string row = std::string(1 << 20, 'x') + ",1\n";
  for (int i = 0; i < 20; ++i) text += row;
  const TableLook table = look(text);
  EXPECT_FALSE(table.is_whole);
  EXPECT_EQ(table.rows, 15);
  EXPECT_TRUE(look("a,b\n1,2\n").is_whole);
}

}  // namespace
}  // namespace trireme::cli::starter
