// TableSource is the rows of a table in memory: `inputs` numbers a row, and a target.
//
// Threads: constant; any thread.

#pragma once

#include <vector>

#include "trireme/data/source.h"

namespace trireme::data::table {

struct Rows {
  std::vector<float> inputs;          // (rows, columns)
  std::vector<float> values;          // (rows, targets) of a regression or multitask
  std::vector<std::int64_t> classes;  // (rows) of a classification
};

class TableSource final : public Source {
 public:
  // REQUIRES: as many of each as the form says.
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
