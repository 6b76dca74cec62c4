// Goal:   docs/errors.md and error.h name the same codes with the same consequences.
// Method: reads the table of the page from the source tree and walks both ways.

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/file.h"

namespace trireme {
namespace {

struct Row {
  std::string meaning;
  std::string consequence;
  std::string remedy;
};

std::map<std::string, Row> rows_of_the_page() {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::istringstream page(read_file(root / "docs" / "errors.md"));
  // | `Code` | meaning | consequence | remedy |
  const std::regex row(R"(\| `(\w+)` \| (.+) \| (\w+) \| (.+) \|)");
  std::map<std::string, Row> rows;
  std::smatch match;
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_match(line, match, row)) continue;
    const bool is_new = rows.insert({match[1], {match[2], match[3], match[4]}}).second;
    EXPECT_TRUE(is_new) << match[1] << " has two rows";
  }
  return rows;
}

TEST(ErrorPage, HasARowForEveryCodeWithItsConsequence) {
  const auto rows = rows_of_the_page();
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const auto row = rows.find(std::string(name_of(code)));
    ASSERT_NE(row, rows.end()) << "docs/errors.md lacks " << name_of(code);
    EXPECT_EQ(row->second.consequence, name_of(consequence_of(code))) << name_of(code);
  }
}

TEST(ErrorPage, HasNoRowForACodeThatDoesNotExist) {
  EXPECT_EQ(rows_of_the_page().size(), static_cast<std::size_t>(kErrorCodeCount));
}

}  // namespace
}  // namespace trireme
