// Goal:   CSV is parsed according to RFC 4180, and invalid files are rejected with line and offset.
// Method: small files; every prefix either parses or is rejected, and is never read past its end.

#include "trireme/data/table/csv_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::data::table {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> row(const Table& file, std::int64_t index) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < std::ssize(file.columns()); ++i) {
    all.emplace_back(file.field(index, i));
  }
  return all;
}

std::string error_of(const std::string& text) {
  try {
    parse_csv(text, "t.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    return error.message();
  }
  return "";
}

TEST(CsvFile, ReadsPlainAndQuotedFields) {
  const Table file = parse_csv(
      "\xef\xbb\xbf"
      "a,\"b c\",d\r\n1,,3\n\n\"x,\"\"y\"\"\nz\",\"\",end",
      "t.csv");
  EXPECT_THAT(file.columns(), ElementsAre("a", "b c", "d"));
  ASSERT_EQ(file.rows(), 2);
  EXPECT_THAT(row(file, 0), ElementsAre("1", "", "3"));
  EXPECT_THAT(row(file, 1), ElementsAre("x,\"y\"\nz", "", "end"));
  EXPECT_EQ(file.place(0, 2), "t.csv: line 2, byte 17");
  EXPECT_THAT(file.place(1, 0), HasSubstr("line 4"));
  EXPECT_THROW(file.field(2, 0), Error);
  EXPECT_THROW(file.field(0, 3), Error);
}

TEST(CsvFile, TakesOtherDelimiters) {
  const Table file = parse_csv("a;b\n1,5;2\n", "t.csv", ';');
  EXPECT_THAT(row(file, 0), ElementsAre("1,5", "2"));
}

TEST(CsvFile, SurvivesAMove) {
  Table file = parse_csv("a\n1\n", "t.csv");
  const Table other = std::move(file);
  EXPECT_EQ(other.field(0, 0), "1");
}

TEST(CsvFile, RefusesWhatIsNoTable) {
  EXPECT_THAT(error_of(""), HasSubstr("t.csv: line 1, byte 0: there is no line"));
  EXPECT_THAT(error_of("\n\n"), HasSubstr("line 3"));
  EXPECT_THAT(error_of("a,a\n"), HasSubstr("line 1, byte 0: two columns"));
  EXPECT_THAT(error_of("a,\n"), HasSubstr("line 1, byte 2: a column has no name"));
  EXPECT_THAT(error_of("a,b\n1,2\n3\n"), HasSubstr("line 3, byte 8: 1 fields for 2 columns"));
  EXPECT_THAT(error_of("a\n\"x\ny\n"), HasSubstr("line 2, byte 2: the quote is not closed"));
  EXPECT_THAT(error_of("a\nx\"y\n"), HasSubstr("byte 3: a quote within"));
  EXPECT_THAT(error_of("a\n\"x\"y\n"), HasSubstr("byte 5: something follows"));
}

TEST(CsvFile, EveryPrefixIsReadOrRefused) {
  const std::string whole = "a,\"b\"\"c\",d\r\n1,\"2,\n\",3\r\n";
  int read = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    read += error_of(whole.substr(0, size)).empty() ? 1 : 0;
  }
  EXPECT_GT(read, 2);
  EXPECT_LT(read, static_cast<int>(whole.size()));
}

}  // namespace
}  // namespace trireme::data::table
