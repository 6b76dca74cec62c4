// A table as a data set, from a CSV file or JSON lines: named columns become inputs, float32
// (numbers), and the target: an int64 class, float32 (targets) for regression, or float32 (tasks)
// for multitask.
//
// Semantics: classes are the distinct texts of the target column in the training rows, in order,
//            numbers by value; InputColumns defines how inputs are encoded. A task has the name of
//            its column, with _ instead of a dot. From a fold that is held out, only the names of
//            its classes are learned.
// Errors:    InvalidInput for a column that does not exist, with the nearest name, and, with file
//            and line, for a field that is not a finite number or a class that is not in the
//            training rows.

#pragma once

#include "trireme/data/registry.h"
#include "trireme/data/table/table_config.h"

namespace trireme::data::table {

Sets open_csv(const TableConfig& config);
Sets open_json_lines(const TableConfig& config);

// These can also open tables for evaluation and prediction, which need the input columns of the
// model in any order and may have others. Tables for prediction need no targets.
Opener<CsvConfig> csv_opener();
Opener<JsonLinesConfig> json_lines_opener();

}  // namespace trireme::data::table
