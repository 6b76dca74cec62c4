// DataChanges describes the differences between what a job learned from its data and what the same
// settings give now. Files may have been changed in place since.
//
// Semantics:     names (classes, categories, columns, the vocabulary, sizes of samples) determine
//                the meaning of weights. Data that contradict them do not match the weights. In a
//                table a name that no longer occurs is not a contradiction, because rows are
//                encoded by name; for other kinds of data the names must be the same. Statistics
//                are only numbers (means, standard deviations, fill values), and those learned
//                first stay valid.
// Thread safety: pure functions; any thread.

#pragma once

#include <string>
#include <vector>

#include "trireme/data/preprocessing.h"

namespace trireme::data {

struct DataChanges {
  // One phrase per difference, for messages to the user.
  std::vector<std::string> names = {};
  std::vector<std::string> statistics = {};
};

DataChanges changes_between(const Preprocessing& learned, const Preprocessing& now);

// Joins the phrases with semicolons.
std::string joined(const std::vector<std::string>& phrases);

}  // namespace trireme::data
