#include "trireme/data/table/table_config.h"

#include <algorithm>

#include "trireme/base/text/nearest.h"
#include "trireme/data/table/fields.h"

namespace trireme::data::table {
namespace {

std::string mistake_in_tasks(const TableConfig& c) {
  if (c.task == TableTask::Classification && c.targets.size() > 1) {
    return "a classification has one target; task = \"multitask\" has several";
  }
  if (c.task == TableTask::Multitask && c.targets.size() == 1) {
    return "multitask needs several targets; for one target use classification or regression";
  }
  if (c.task != TableTask::Multitask && !c.class_targets.empty()) {
    return "class_targets are for task = \"multitask\"";
  }
  for (const std::string& name : c.class_targets) {
    if (std::count(c.targets.begin(), c.targets.end(), name) == 0) {
      return "class_targets: '" + name + "' is none of the targets";
    }
  }
  return {};
}

// A model that is given its target would learn nothing else.
std::string mistake_in_columns(const TableConfig& c) {
  std::string both;
  for (const std::string& name : c.inputs) {
    if (std::ranges::find(c.targets, name) == c.targets.end()) continue;
    both += (both.empty() ? "'" : ", '") + name + "'";
  }
  if (!both.empty())
    return "inputs and targets both have " + both + ": a target cannot be an input";
  for (const auto* names : {&c.inputs, &c.targets}) {
    for (auto name = names->begin(); name != names->end(); ++name) {
      if (std::find(names->begin(), name, *name) == name) continue;
      return std::string(names == &c.inputs ? "inputs" : "targets") + " has '" + *name + "' twice";
    }
  }
  return {};
}

// Any other word would otherwise become a category of its own.
std::string mistake_in_missing(const std::string& setting) {
  static const std::vector<std::string> kWords = {"error", "drop", "mean", "median"};
  if (std::ranges::find(kWords, setting) != kWords.end() || number_of(setting) ||
      setting.starts_with(kValuePrefix)) {
    return {};
  }
  const auto meant = nearest(setting, kWords);
  return "is not \"error\", \"drop\", \"mean\", \"median\", a number or \"value:TEXT\"" +
         (meant ? "; did you mean \"" + *meant + "\"?"
                : "; \"value:" + setting + "\" uses it as a category");
}

// The settings are members of the base class of both kinds.
template <class Config>
struct TableFields {
  config::Fields<Config>& f;

  template <class T>
  auto& add(const char* name, T TableConfig::* member) {
    return f.add(name, static_cast<T Config::*>(member));
  }

  void describe() {
    using T = TableConfig;
    add("train", &T::train).help("the file to train on");
    add("test", &T::test).help("the file to evaluate on; empty: a share of the other's rows");
    add("test_fraction", &T::test_fraction)
        .range(0, 0.9)
        .help("fraction of the rows kept for evaluation if there is no test file; 0: none");
    add("split_seed", &T::split_seed).help("seed of the choice of these rows");
    add("inputs", &T::inputs).help("columns; empty: all but the targets");
    add("categories", &T::categories).help("categorical input columns; they are one-hot encoded");
    add("targets", &T::targets)
        .help("columns to predict: one of class names, any number of numbers, or several of both");
    add("class_targets", &T::class_targets)
        .help("in a multitask, the targets that are class names; the others are numbers");
    add("task", &T::task)
        .names({{"classification", TableTask::Classification},
                {"regression", TableTask::Regression},
                {"multitask", TableTask::Multitask}})
        .help("what is predicted; multitask goes with model.kind = multitask");
    add("standardize_columns", &T::are_columns_standardized)
        .help("bring each input of numbers to the mean 0 and deviation 1 of the rows trained on");
    add("standardize_targets", &T::are_targets_standardized)
        .help("the same for targets that are numbers; results are reported in original units");
    add("missing", &T::missing)
        .check(mistake_in_missing)
        .help(
            "what to do with missing values: \"error\", \"drop\" the row, or use the training "
            "rows' \"mean\" or \"median\", a number, or TEXT of \"value:TEXT\" instead");
    add("missing_values", &T::missing_values)
        .help("texts that mean a missing value, in upper or lower case");
    f.require([](const Config& c) { return mistake_in_tasks(c); });
    f.require([](const Config& c) { return mistake_in_columns(c); });
  }
};

}  // namespace

void CsvConfig::describe(config::Fields<CsvConfig>& f) {
  TableFields<CsvConfig> fields{f};
  fields.describe();
  fields.add("delimiter", &TableConfig::delimiter)
      .check([](const std::string& text) {
        const bool is_right = text.size() == 1 && text != "\"" && text != "\n" && text != "\r";
        return is_right ? std::string() : std::string("is no single character");
      })
      .help("between the fields of a line");
}

void JsonLinesConfig::describe(config::Fields<JsonLinesConfig>& f) {
  TableFields<JsonLinesConfig>{f}.describe();
}

}  // namespace trireme::data::table
