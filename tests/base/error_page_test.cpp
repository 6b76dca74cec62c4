// Goal:   docs/errors.md and error.h list the same codes, each with one of the four consequences.
// Method: read the table of the page from the source tree and compare in both directions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/folders.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"

namespace trireme {
namespace {

// The code and consequence of each row `| `Code` | meaning | consequence | remedy |`.
std::map<std::string, std::string> rows_of_the_page() {
  const auto root = std::filesystem::path(source_folder());
  std::istringstream page(read_file(root / "docs" / "errors.md"));
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) {
      cells.push_back(cell.size() > 2 ? cell.substr(1, cell.size() - 2) : "");
    }
    EXPECT_EQ(cells.size(), 4u) << line;
    for (const std::string& cell : cells) EXPECT_FALSE(cell.empty()) << line;
    if (cells.size() != 4) continue;
    const std::string code = cells[0].substr(1, cells[0].size() - 2);
    EXPECT_TRUE(rows.insert({code, cells[2]}).second) << code << " has two rows";
  }
  return rows;
}

TEST(ErrorPage, HasARowForEveryCodeWithAConsequence) {
  const auto rows = rows_of_the_page();
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const auto row = rows.find(std::string(name_of(code)));
    ASSERT_NE(row, rows.end()) << "docs/errors.md lacks " << name_of(code);
    EXPECT_THAT(row->second, ::testing::AnyOf("retry", "rebuild", "restart", "stop"))
        << name_of(code);
  }
}

TEST(ErrorPage, HasNoRowForACodeThatDoesNotExist) {
  EXPECT_EQ(rows_of_the_page().size(), static_cast<std::size_t>(kErrorCodeCount));
}

}  // namespace
}  // namespace trireme
