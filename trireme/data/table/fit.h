// Fit is what was learned from the training rows of a table: statistics and categories of its input
// columns, and classes of its targets. With it, rows of any other table are encoded in the same
// way.
//
// Thread safety: a value type.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "trireme/data/table/input_columns.h"

namespace trireme::data::table {

// A target column. Without classes it contains numbers.
struct TargetColumn {
  std::string name;
  std::map<std::string, std::int64_t, std::less<>> classes = {};
  Standard standard = {};  // if the column contains numbers

  bool is_class() const noexcept { return !classes.empty(); }
};

struct Fit {
  InputColumns inputs;
  std::vector<TargetColumn> targets = {};
};

}  // namespace trireme::data::table
