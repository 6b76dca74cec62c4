// InputColumns is how the fields of a row become the numbers that a model is given.
//
// Meaning: what is learned of a column is learned from the rows trained on. A column of numbers is
//          one number, standardized where that is wanted. A column of categories is as many as it
//          has categories, 1 for the row's own and 0 for the others; one that was never trained on
//          is all zeros.
// Threads: constant; any thread.
// Failure: InvalidInput for columns that are not there, categories of what is no input or with more
//          than kCategoriesMax; Corrupt for a field that is no finite number.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "trireme/data/table/fields.h"
#include "trireme/data/table/table_config.h"

namespace trireme::data::table {

inline constexpr std::int64_t kCategoriesMax = 4096;

class InputColumns {
 public:
  // `rows` are those trained on.
  InputColumns(const Table& table, const RowNumbers& rows, const TableConfig& config);

  // Numbers a row.
  std::int64_t width() const noexcept { return width_; }
  // (rows, width), of a table that has these columns in any order.
  std::vector<float> encode(const Table& table, const RowNumbers& rows) const;

 private:
  struct Column {
    std::string name;
    bool is_category = false;
    std::map<std::string, std::int64_t, std::less<>> categories = {};
    float mean = 0;
    float deviation = 1;
  };

  static Column fit(const Table& table, const RowNumbers& rows, const std::string& name,
                    const TableConfig& config);

  std::vector<Column> columns_;
  std::int64_t width_ = 0;
};

}  // namespace trireme::data::table
