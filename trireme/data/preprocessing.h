// Preprocessing is what a model needs to know about its training data: the form of samples, names
// of classes, the vocabulary or tokenizer, and what was learned from a table's columns. It is saved
// in every checkpoint, so that a model can be used without its training data.
//
// Thread safety: a value type.
// Errors:        from_json() throws Corrupt for text that to_json() does not write, and for sizes
//                and types that contradict each other or the table: samples are read into buffers
//                made from them.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/form.h"
#include "trireme/data/table/fit.h"

namespace trireme::data {

struct Preprocessing {
  // Training samples as stored in the files, and as the model receives them after transforms.
  Form source = {};
  Form form = {};
  // What was learned from the training rows of a table; empty for other kinds of data.
  std::optional<table::Fit> table = {};
  // Number of training samples per class, if loss.balanced counted them.
  std::vector<std::int64_t> class_counts = {};

  std::string to_json() const;
  static Preprocessing from_json(std::string_view json);
};

}  // namespace trireme::data
