// Goal:   objects on lines become a table, for any order of their members; an invalid line is
//         reported with file, line and offset.
// Method: small texts with fields worked out by hand; every prefix of one.

#include "trireme/data/table/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/data/table/table.h"
#include "trireme/testing/code_of.h"

namespace trireme::data::table {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> object(const Table& table, std::int64_t index) {
  std::vector<std::string> all;
  for (std::int64_t column = 0; column < std::ssize(table.columns()); ++column) {
    all.emplace_back(table.field(index, column));
  }
  return all;
}

TEST(JsonLines, MembersAreColumns) {
  const Table table = parse_json_lines(
      "{\"b\": 1.5, \"a\": \"x\\ny\", \"in\": {\"c\": true, \"d\": [7, [8]]}}\n\r\n"
      "{\"a\": null, \"more\": -2e3, \"b\": 10}",
      "t.jsonl");
  EXPECT_THAT(table.columns(), ElementsAre("b", "a", "in.c", "in.d.0", "in.d.1.0", "more"));
  ASSERT_EQ(table.rows(), 2);
  EXPECT_THAT(object(table, 0), ElementsAre("1.5", "x\ny", "true", "7", "8", ""));
  EXPECT_THAT(object(table, 1), ElementsAre("10", "", "", "", "", "-2000.0"));
  EXPECT_EQ(table.place(1, 0), "t.jsonl: line 3, byte 60");
  EXPECT_EQ(table.place(1, 3), "t.jsonl: line 3, byte 60") << "what is not there, too";
  EXPECT_EQ(parse_json_lines("", "t").rows(), 0);
  EXPECT_EQ(parse_json_lines("{}\n{}", "t").rows(), 2);
  EXPECT_THROW(table.field(2, 0), Error);
}

std::string refusal_of(const std::string& text) {
  try {
    parse_json_lines(text, "t.jsonl");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    return error.message();
  }
  return "";
}

TEST(JsonLines, NameTheLineThatIsNone) {
  EXPECT_THAT(refusal_of("{\"a\": 1}\n{\"a\": }\n"),
              HasSubstr("t.jsonl: line 2, byte 9: no JSON object"));
  EXPECT_THAT(refusal_of("[1, 2]"), HasSubstr("line 1, byte 0"));
  EXPECT_THAT(refusal_of("{\"a\": 1} x"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal_of("{\"\": 1}"), HasSubstr("no name"));
  const std::string deep =
      "{\"a\": " + std::string(kDepthMax + 1, '[') + "1" + std::string(kDepthMax + 1, ']') + "}";
  EXPECT_THAT(refusal_of(deep), HasSubstr("too deep"));
  const std::string whole = "{\"a\": [1, \"x\"], \"b\": {\"c\": false}}";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_NE(refusal_of(whole.substr(0, size)), "") << size;
  }
  EXPECT_EQ(refusal_of(whole), "");
}

// Every line adds a column of its own: lines times columns grow with the square of the file.
TEST(JsonLines, ASmallFileDoesNotMakeALargeTable) {
  std::string sparse;
  for (int i = 0; i < 3000; ++i) sparse += "{\"k" + std::to_string(i) + "\":1}\n";
  EXPECT_THAT(refusal_of(sparse), HasSubstr("3000 lines have 3000 different members"));
  EXPECT_THAT(refusal_of("{\"" + std::string(1001, 'k') + "\": 1}"), HasSubstr("1000 bytes"));
}

}  // namespace
}  // namespace trireme::data::table
