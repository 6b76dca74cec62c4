#include "trireme/data/table/csv_config.h"

namespace trireme::data::table {

void CsvConfig::describe(config::Fields<CsvConfig>& f) {
  f.add("train", &CsvConfig::train).help("the file to train on, its first line the columns' names");
  f.add("test", &CsvConfig::test)
      .help("the file to evaluate on; empty: a share of the other's rows");
  f.add("test_share", &CsvConfig::test_share)
      .range(0, 0.9)
      .help("of the rows that are not trained on, where there is no test file; 0: none");
  f.add("split_seed", &CsvConfig::split_seed).help("says which rows these are");
  f.add("inputs", &CsvConfig::inputs).help("columns, all numbers; empty: all but the targets");
  f.add("targets", &CsvConfig::targets)
      .help("columns to predict: one of class names, or any number of numbers");
  f.add("task", &CsvConfig::task)
      .names({{"classification", Task::Classification}, {"regression", Task::Regression}})
      .help("what is predicted");
  f.add("standardize_columns", &CsvConfig::are_columns_standardized)
      .help("bring each input column to the mean 0 and deviation 1 of the rows trained on");
  f.add("delimiter", &CsvConfig::delimiter)
      .check([](const std::string& text) {
        const bool is_right = text.size() == 1 && text != "\"" && text != "\n" && text != "\r";
        return is_right ? std::string() : std::string("is no single character");
      })
      .help("between the fields of a line");
  f.require([](const CsvConfig& c) {
    const bool is_one = c.task == Task::Regression || c.targets.size() < 2;
    return is_one ? std::string() : std::string("a classification has one target");
  });
}

}  // namespace trireme::data::table
