#include "trireme/data/table/table_set.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/labels.h"
#include "trireme/data/order/order.h"
#include "trireme/data/order/sampling.h"
#include "trireme/data/sequence/windows.h"
#include "trireme/data/table/csv_file.h"
#include "trireme/data/table/fit.h"
#include "trireme/data/table/json_lines.h"
#include "trireme/data/table/missing.h"
#include "trireme/data/table/table_source.h"

namespace trireme::data::table {
namespace {

constexpr std::size_t kSizeMax = std::size_t{1} << 34;

using Parse = std::function<Table(std::string content, std::string name)>;

// What is learned from the training rows, and the resulting form of samples.
struct FittedForm {
  Fit fit;
  Form form = {};
};

bool is_of_classes(const TableConfig& config, const std::string& target) {
  if (config.task != TableTask::Multitask) return config.task == TableTask::Classification;
  return std::count(config.class_targets.begin(), config.class_targets.end(), target) > 0;
}

// Model heads are named after tasks, and a dot separates a head's name from its parameters.
void add_task(Form& form, const TargetColumn& target) {
  std::string name = target.name;
  std::replace(name.begin(), name.end(), '.', '_');
  for (const TaskForm& task : form.tasks) {
    if (task.name != name) continue;
    throw Error(ErrorCode::InvalidInput, "data.targets: two would be called '" + name + "'");
  }
  form.tasks.push_back({name, std::ssize(target.classes)});
}

// Rows of one file.
struct TableSplit {
  RowNumbers train = {};
  RowNumbers test = {};  // used for evaluation
  // Used to find the classes: the training rows, and a fold that is held out.
  RowNumbers classes = {};
};

TargetColumn fit_classes(const Table& table, const RowNumbers& rows, const std::string& name) {
  TargetColumn target{.name = name};
  const std::int64_t index = index_of(table, name);
  std::set<std::string_view> texts;
  for (const std::int64_t row : rows) texts.insert(table.field(row, index));
  for (const std::string& each : sorted_names(texts)) {
    target.classes.emplace(each, std::ssize(target.classes));
  }
  return target;
}

Moments moments_of(const Table& table, const RowNumbers& rows, std::int64_t column) {
  Moments moments;
  for (const std::int64_t row : rows) {
    moments.add(number_in(table, row, column, kTargetRemedy));
  }
  return moments;
}

TargetColumn fit_target(const Table& table, const TableSplit& rows, const std::string& name,
                        const TableConfig& config) {
  if (is_of_classes(config, name)) return fit_classes(table, rows.classes, name);
  TargetColumn target{.name = name};
  const std::int64_t index = index_of(table, name);
  if (config.are_targets_standardized) {
    target.standard = Standard::of(moments_of(table, rows.train, index));
  }
  return target;
}

// For the r2 of training steps, which is of the values that the model is trained on.
std::vector<Standard> spreads_of(const Table& table, const RowNumbers& rows, const Fit& fit) {
  std::vector<Standard> all;
  for (const TargetColumn& target : fit.targets) {
    const Moments moments = moments_of(table, rows, index_of(table, target.name));
    all.push_back({.deviation = Standard::of(moments).deviation / target.standard.deviation});
  }
  return all;
}

FittedForm fit_to(const Table& table, const TableSplit& rows, const TableConfig& config) {
  FittedForm all{.fit = {.inputs = InputColumns(table, rows.train, config)}};
  Form& form = all.form;
  form.input_sizes = {all.fit.inputs.width()};
  for (const std::string& name : config.targets) {
    all.fit.targets.push_back(fit_target(table, rows, name, config));
    const TargetColumn& target = all.fit.targets.back();
    if (config.task == TableTask::Multitask) add_task(form, target);
    if (config.are_targets_standardized) form.target_standards.push_back(target.standard);
  }
  if (config.task == TableTask::Classification) {
    const auto& classes = all.fit.targets.front().classes;
    form.classes = std::ssize(classes);
    form.class_names.resize(classes.size());
    for (const auto& [name, index] : classes) {
      form.class_names[static_cast<std::size_t>(index)] = name;
    }
    form.target_standards.clear();
    return all;
  }
  form.target_sizes = {std::ssize(config.targets)};
  form.target_type = at::kFloat;
  return all;
}

std::int64_t label_in(const Table& table, std::int64_t row, std::int64_t column,
                      const TargetColumn& target) {
  const auto found = target.classes.find(table.field(row, column));
  if (found != target.classes.end()) return found->second;
  throw Error(ErrorCode::InvalidInput,
              table.line_of(row) + ": class \"" + std::string(table.field(row, column)) +
                  "\" of column \"" + target.name +
                  "\" is in no row that is trained on. Remove the row, or set " +
                  "data.task = \"regression\" where the column holds numbers to predict.");
}

std::shared_ptr<const Source> source_of(const Table& table, const RowNumbers& rows, const Fit& fit,
                                        const Form& form) {
  Rows content{.inputs = fit.inputs.encode(table, rows), .values = {}, .classes = {}};
  std::vector<std::int64_t> columns;
  for (const TargetColumn& target : fit.targets) columns.push_back(index_of(table, target.name));
  for (const std::int64_t row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const TargetColumn& target = fit.targets[i];
      if (!target.is_class()) {
        const double value = number_in(table, row, columns[i], kTargetRemedy);
        content.values.push_back(static_cast<float>(target.standard.apply(value)));
      } else if (form.classes > 0) {
        content.classes.push_back(label_in(table, row, columns[i], target));
      } else {
        content.values.push_back(static_cast<float>(label_in(table, row, columns[i], target)));
      }
    }
  }
  return std::make_shared<TableSource>(std::move(content), form, std::ssize(rows));
}

Parse csv_parse(const TableConfig& config) {
  return [delimiter = config.delimiter.front()](std::string content, std::string name) {
    return parse_csv(std::move(content), std::move(name), delimiter);
  };
}

Parse json_lines_parse(const TableConfig&) {
  return [](const std::string& content, std::string name) {
    return parse_json_lines(content, std::move(name));
  };
}

Table read(const std::filesystem::path& path, const Parse& parse) {
  Table table = parse(read_file(path, kSizeMax), path);
  if (table.rows() == 0) throw Error(ErrorCode::InvalidInput, path.string() + " has no rows");
  return table;
}

// Those of `rows` at positions first .. end-1 in the order of the split; sorted.
RowNumbers drawn(const RowNumbers& rows, const Order& order, std::int64_t first, std::int64_t end) {
  RowNumbers all;
  for (std::int64_t k = first; k < end; ++k) {
    all.push_back(rows[static_cast<std::size_t>(order.sample(0, k))]);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// `rows` are the rows that are used.
TableSplit split_rows(const RowNumbers& rows, const TableConfig& config) {
  const std::int64_t count = std::ssize(rows);
  if (!config.test.empty() || config.test_fraction == 0 || count < 2) {
    return {.train = rows, .classes = rows};
  }
  const std::int64_t kept =
      std::clamp<std::int64_t>(sequence::split_at(count, config.test_fraction), 1, count - 1);
  const Order order(config.split_seed, count, true);
  const RowNumbers train = drawn(rows, order, 0, kept);
  return {.train = train, .test = drawn(rows, order, kept, count), .classes = train};
}

// The rows of one fold are used for evaluation, instead of those the settings would select.
TableSplit hold_out_fold(const Table& table, const RowNumbers& rows, const TableConfig& config,
                         const SamplingConfig& sampling) {
  std::vector<std::int64_t> labels(rows.size());
  std::int64_t classes = 1;
  if (config.task == TableTask::Classification) {
    const TargetColumn target = fit_classes(table, rows, config.targets.front());
    const std::int64_t index = index_of(table, target.name);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      labels[i] = target.classes.find(table.field(rows[i], index))->second;
    }
    classes = std::ssize(target.classes);
  }
  const std::vector<int> folds = folds_of(labels, classes, sampling.folds, sampling.fold_seed);
  TableSplit split{.classes = rows};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (folds[i] == sampling.fold ? split.test : split.train).push_back(rows[i]);
  }
  return split;
}

void require_names(const TableConfig& config) {
  if (!config.train.empty() && !config.targets.empty()) return;
  throw Error(ErrorCode::InvalidInput,
              "data.train and data.targets: name a file and the column to predict");
}

// A user of the exported weights outside of Trireme needs these numbers.
void note_standards(const FittedForm& all, std::vector<std::string>& notes) {
  if (all.form.target_standards.empty()) return;
  std::string text;
  for (const TargetColumn& target : all.fit.targets) {
    if (target.is_class()) continue;
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, "\" mean %.9g, standard deviation %.9g",
                  target.standard.mean, target.standard.deviation);
    text += (text.empty() ? " \"" : "; \"") + target.name + numbers;
  }
  if (text.empty()) return;
  notes.push_back("targets are standardized for training and reported in original units:" + text);
}

const Fit& fit_of(const Preprocessing& known) {
  if (known.table) return *known.table;
  throw Error(ErrorCode::InvalidInput,
              "the model was not trained on a table: data.kind is not the one of its training");
}

Sets open_table(const TableConfig& config, const Parse& parse, const Learning& how) {
  require_names(config);
  Sets sets;
  const Table table = read(config.train, parse);
  std::vector<std::string> named = config.targets;
  named.insert(named.end(), config.inputs.begin(), config.inputs.end());
  named.insert(named.end(), config.categories.begin(), config.categories.end());
  require_columns(table, named);
  const Missing missing(config);
  const std::vector<std::string> inputs = input_names(table, config);
  const bool has_folds = how.sampling.folds > 0;
  TableSplit split =
      split_rows(missing.usable_rows(table, inputs, config.targets, sets.notes), config);
  if (has_folds) split = hold_out_fold(table, split.train, config, how.sampling);
  FittedForm fitted = how.known == nullptr
                          ? fit_to(table, split, config)
                          : FittedForm{.fit = fit_of(*how.known), .form = how.known->source};
  if (fitted.form.is_regression()) {
    fitted.form.target_spreads = spreads_of(table, split.train, fitted.fit);
  }
  const auto& [fit, form] = fitted;
  sets.train = source_of(table, split.train, fit, form);
  sets.preprocessing.table = fit;
  const auto open_test = [&](const Table& from, const RowNumbers& rows) {
    for (const std::string& note : fit.inputs.unknown_categories(from, rows)) {
      sets.notes.push_back(note);
    }
    sets.test = source_of(from, rows, fit, form);
  };
  if (!split.test.empty()) open_test(table, split.test);
  if (!config.test.empty() && !has_folds) {
    const Table other = read(config.test, parse);
    std::vector<std::string> used = inputs;
    used.insert(used.end(), config.targets.begin(), config.targets.end());
    require_columns(other, used);
    open_test(other, missing.usable_rows(other, inputs, config.targets, sets.notes));
  }
  note_standards(fitted, sets.notes);
  return sets;
}

// Prints messages about dropped or filled rows, if no job prints them when it begins.
void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "trireme: %s\n", note.c_str());
}

std::shared_ptr<const Source> open_table_test(const TableConfig& config, const Preprocessing& known,
                                              const Parse& parse) {
  require_names(config);
  const Fit& fit = fit_of(known);
  const Table table = read(config.test.empty() ? config.train : config.test, parse);
  std::vector<std::string> used = fit.inputs.names();
  used.insert(used.end(), config.targets.begin(), config.targets.end());
  require_columns(table, used);
  std::vector<std::string> notes;
  RowNumbers rows = Missing(config).usable_rows(table, fit.inputs.names(), config.targets, notes);
  print_notes(notes);
  if (config.test.empty()) rows = split_rows(std::move(rows), config).test;
  print_notes(fit.inputs.unknown_categories(table, rows));
  return rows.empty() ? nullptr : source_of(table, rows, fit, known.source);
}

// Rejecting or dropping rows needs no learned values; filling in values does.
Missing missing_of_inputs(const TableConfig& config, const InputColumns& columns) {
  const std::string& learned = columns.missing().setting();
  if (config.missing == "error" || config.missing == "drop" || config.missing == learned) {
    return Missing(config);
  }
  throw Error(ErrorCode::InvalidInput, "data.missing = \"" + config.missing +
                                           "\": the model was trained with data.missing = \"" +
                                           learned +
                                           "\" and has no other values to fill in. Use that, "
                                           "\"error\" or \"drop\".");
}

// Tables of both kinds can be read, whatever the kind of the training data.
Inputs open_table_inputs(const TableConfig& config, const Preprocessing& known,
                         const std::filesystem::path& path, const Parse& parse) {
  const std::string ending = path.extension().string();
  const bool is_image = ending == ".png" || ending == ".jpg" || ending == ".jpeg";
  if (is_image || std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::InvalidInput,
                path.string() + " is " + (is_image ? "an image" : "a folder") +
                    ", and this model reads rows of a table: name a .csv or .jsonl file");
  }
  const Table table =
      read(path, ending == ".csv"                            ? csv_parse(config)
                 : ending == ".jsonl" || ending == ".ndjson" ? json_lines_parse(config)
                                                             : parse);
  const InputColumns& columns = fit_of(known).inputs;
  require_columns(table, columns.names());
  std::vector<std::string> notes;
  const RowNumbers rows =
      missing_of_inputs(config, columns).usable_rows(table, columns.names(), {}, notes);
  print_notes(notes);
  print_notes(columns.unknown_categories(table, rows));
  Form form = known.source;
  Inputs inputs{.named_by = "line"};
  Rows content{
      .inputs = columns.encode(table, rows, kPredictionRemedy), .values = {}, .classes = {}};
  const auto targets = rows.size() * static_cast<std::size_t>(form.target_count());
  (form.classes > 0 ? content.classes.resize(targets) : content.values.resize(targets));
  for (std::int64_t row = 0, used = 0; row < table.rows(); ++row) {
    std::string line = std::to_string(table.line(row));
    if (used < std::ssize(rows) && rows[static_cast<std::size_t>(used)] == row) {
      inputs.names.push_back(std::move(line));
      ++used;
    } else {
      inputs.left_out.push_back({.before = used, .name = std::move(line)});
    }
  }
  inputs.source =
      std::make_shared<TableSource>(std::move(content), std::move(form), std::ssize(rows));
  return inputs;
}

template <class Config>
Opener<Config> opener(Parse (*parse)(const TableConfig&)) {
  return {
      .learn = [=](const Config& config,
                   const Learning& how) { return open_table(config, parse(config), how); },
      .open_test =
          [=](const Config& config, const Preprocessing& known) {
            return open_table_test(config, known, parse(config));
          },
      .open_inputs =
          [=](const Config& config, const Preprocessing& known, const std::filesystem::path& path) {
            return open_table_inputs(config, known, path, parse(config));
          }};
}

}  // namespace

Opener<CsvConfig> csv_opener() {
  return opener<CsvConfig>(csv_parse);
}

Opener<JsonLinesConfig> json_lines_opener() {
  return opener<JsonLinesConfig>(json_lines_parse);
}

Sets open_csv(const TableConfig& config) {
  return open_table(config, csv_parse(config), {.sampling = SamplingConfig()});
}

Sets open_json_lines(const TableConfig& config) {
  return open_table(config, json_lines_parse(config), {.sampling = SamplingConfig()});
}

}  // namespace trireme::data::table
