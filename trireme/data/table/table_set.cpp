#include "trireme/data/table/table_set.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/data/order.h"
#include "trireme/data/sequence/windows.h"
#include "trireme/data/table/csv_file.h"
#include "trireme/data/table/input_columns.h"
#include "trireme/data/table/json_lines.h"
#include "trireme/data/table/table_source.h"

namespace trireme::data::table {
namespace {

constexpr std::size_t kSizeMax = std::size_t{1} << 34;

using Parse = std::function<Table(std::string content, std::string name)>;

// A column to predict. Without classes it is one of numbers.
struct TargetColumn {
  std::string name;
  std::map<std::string, std::int64_t, std::less<>> classes = {};

  bool is_class() const noexcept { return !classes.empty(); }
};

// What is learned from the rows trained on and applied to all.
struct Fit {
  InputColumns inputs;
  std::vector<TargetColumn> targets = {};
  Form form = {};
};

bool is_of_classes(const TableConfig& config, const std::string& target) {
  if (config.task != Task::Multitask) return config.task == Task::Classification;
  return std::count(config.class_targets.begin(), config.class_targets.end(), target) > 0;
}

// Heads of a model are called after tasks, and a dot parts a head from what is in it.
void add_task(Form& form, const TargetColumn& target) {
  std::string name = target.name;
  std::replace(name.begin(), name.end(), '.', '_');
  for (const TaskForm& task : form.tasks) {
    if (task.name != name) continue;
    throw Error(ErrorCode::InvalidInput, "data.targets: two would be called '" + name + "'");
  }
  form.tasks.push_back({name, std::ssize(target.classes)});
}

Fit fit_to(const Table& table, const RowNumbers& rows, const TableConfig& config) {
  for (const std::string& name : config.targets) index_of(table, name);  // before all others
  Fit fit{.inputs = InputColumns(table, rows, config)};
  fit.form.input_sizes = {fit.inputs.width()};
  for (const std::string& name : config.targets) {
    TargetColumn target{.name = name};
    const std::int64_t index = index_of(table, name);
    if (is_of_classes(config, name)) {
      for (const std::string& each : names_in(table, rows, index)) {
        target.classes.emplace(each, std::ssize(target.classes));
        fit.form.class_names.push_back(each);
      }
    }
    if (config.task == Task::Multitask) add_task(fit.form, target);
    fit.targets.push_back(std::move(target));
  }
  if (config.task == Task::Classification) {
    fit.form.classes = std::ssize(fit.form.class_names);
    return fit;
  }
  fit.form.class_names.clear();
  fit.form.target_sizes = {std::ssize(config.targets)};
  fit.form.target_type = at::kFloat;
  return fit;
}

std::int64_t label_in(const Table& table, std::int64_t row, std::int64_t column,
                      const TargetColumn& target) {
  const auto found = target.classes.find(table.field(row, column));
  if (found != target.classes.end()) return found->second;
  throw Error(ErrorCode::Corrupt, table.place(row, column) + ": class '" +
                                      std::string(table.field(row, column)) +
                                      "' is in no row that is trained on; where the column " +
                                      "holds numbers to predict, data.task=regression");
}

std::shared_ptr<const Source> source_of(const Table& table, const RowNumbers& rows,
                                        const Fit& fit) {
  Rows content{.inputs = fit.inputs.encode(table, rows), .values = {}, .classes = {}};
  std::vector<std::int64_t> columns;
  for (const TargetColumn& target : fit.targets) columns.push_back(index_of(table, target.name));
  for (const std::int64_t row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const TargetColumn& target = fit.targets[i];
      if (!target.is_class()) {
        content.values.push_back(number_in(table, row, columns[i]));
      } else if (fit.form.classes > 0) {
        content.classes.push_back(label_in(table, row, columns[i], target));
      } else {
        content.values.push_back(static_cast<float>(label_in(table, row, columns[i], target)));
      }
    }
  }
  return std::make_shared<TableSource>(std::move(content), fit.form, std::ssize(rows));
}

Table read(const std::filesystem::path& path, const Parse& parse) {
  Table table = parse(read_file(path, kSizeMax), path);
  if (table.rows() == 0) throw Error(ErrorCode::Corrupt, path.string() + ": has no rows");
  return table;
}

// Rows first .. end-1 of the file in the order of `seed`, sorted.
RowNumbers drawn(const Order& order, std::int64_t first, std::int64_t end) {
  RowNumbers all;
  for (std::int64_t k = first; k < end; ++k) all.push_back(order.sample(0, k));
  std::sort(all.begin(), all.end());
  return all;
}

Sets open_table(const TableConfig& config, const Parse& parse) {
  if (config.train.empty() || config.targets.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "data.train and data.targets: name a file and the column to predict");
  }
  const Table table = read(config.train, parse);
  const std::int64_t count = table.rows();
  const bool is_split = config.test.empty() && config.test_share > 0 && count > 1;
  const std::int64_t kept =
      is_split
          ? std::clamp<std::int64_t>(sequence::split_at(count, config.test_share), 1, count - 1)
          : count;
  const Order order(config.split_seed, count, is_split);
  const RowNumbers train = drawn(order, 0, kept);
  const Fit fit = fit_to(table, train, config);
  Sets sets{.train = source_of(table, train, fit), .test = nullptr};
  if (is_split) sets.test = source_of(table, drawn(order, kept, count), fit);
  if (!config.test.empty()) {
    const Table other = read(config.test, parse);
    RowNumbers all(static_cast<std::size_t>(other.rows()));
    std::iota(all.begin(), all.end(), 0);
    sets.test = source_of(other, all, fit);
  }
  return sets;
}

}  // namespace

Sets open_csv(const TableConfig& config) {
  return open_table(config, [&](std::string content, std::string name) {
    return parse_csv(std::move(content), std::move(name), config.delimiter.front());
  });
}

Sets open_json_lines(const TableConfig& config) {
  return open_table(config, [](const std::string& content, std::string name) {
    return parse_json_lines(content, std::move(name));
  });
}

}  // namespace trireme::data::table
