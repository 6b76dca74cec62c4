// A table as data set, of a CSV file or JSON lines: named columns become inputs, float32 (numbers),
// and the target: an int64 class, float32 (targets) to be predicted, or a multitask's (tasks).
//
// Meaning: classes are the different texts of the target column where they were trained on, in
//          order, numbers by their value; InputColumns says what becomes of inputs. A task is
//          called as its column is, with _ for a dot.
// Failure: InvalidInput for a column that is not there, with the nearest name; Corrupt, with file,
//          line and offset, for a field that is no finite number or a class never trained on.

#pragma once

#include "trireme/data/registry.h"
#include "trireme/data/table/table_config.h"

namespace trireme::data::table {

Sets open_csv(const TableConfig& config);
Sets open_json_lines(const TableConfig& config);

}  // namespace trireme::data::table
