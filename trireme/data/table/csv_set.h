// A CSV file as data set: named columns become inputs, float32 (columns), and the target: an int64
// class, or float32 (targets) to be predicted.
//
// Meaning: classes are the different texts of the target column where they were trained on, in
//          order, numbers by their value. Columns are standardized by the rows trained on.
// Failure: InvalidInput for a column that is not there, with the nearest name; Corrupt, with file,
//          line and offset, for a field that is no finite number or a class never trained on.

#pragma once

#include "trireme/data/registry.h"
#include "trireme/data/table/csv_config.h"

namespace trireme::data::table {

Sets open_csv(const CsvConfig& config);

}  // namespace trireme::data::table
