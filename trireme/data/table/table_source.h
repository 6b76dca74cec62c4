// TableSource is the rows of a table in memory: the input numbers of each row, and a target.
//
// Thread safety: immutable; any thread.

#pragma once

#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data::table {

struct Rows {
  std::vector<float> inputs;          // (rows, columns)
  std::vector<float> values;          // (rows, targets) for regression or multitask
  std::vector<std::int64_t> classes;  // (rows) for classification
};

class TableSource final : public Source {
 public:
  // REQUIRES: sizes and types that match the form.
  TableSource(Rows rows, Form form, std::int64_t count);

  std::int64_t count() const override { return count_; }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  Rows rows_;
  Form form_;
  std::int64_t count_;
};

}  // namespace trireme::data::table
