#include "trireme/data/table/csv_set.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/base/nearest.h"
#include "trireme/data/order.h"
#include "trireme/data/sequence/windows.h"
#include "trireme/data/table/csv_file.h"
#include "trireme/data/table/csv_source.h"

namespace trireme::data::table {
namespace {

constexpr std::size_t kSizeMax = std::size_t{1} << 34;

using Numbers = std::vector<std::int64_t>;

std::optional<float> number_of(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  float number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::int64_t index_of(const CsvFile& file, const std::string& column) {
  const auto& all = file.columns();
  const auto found = std::find(all.begin(), all.end(), column);
  if (found != all.end()) return found - all.begin();
  const auto meant = nearest(column, all);
  throw Error(ErrorCode::InvalidInput, file.name() + " has no column '" + column + "'" +
                                           (meant ? "; did you mean '" + *meant + "'?" : ""));
}

Numbers indices_of(const CsvFile& file, const std::vector<std::string>& columns) {
  Numbers all;
  for (const std::string& column : columns) all.push_back(index_of(file, column));
  return all;
}

// The names of the inputs, those of a file where the settings say all.
std::vector<std::string> inputs_of(const CsvFile& file, const CsvConfig& config) {
  if (!config.inputs.empty()) return config.inputs;
  std::vector<std::string> all;
  for (const std::string& column : file.columns()) {
    if (std::count(config.targets.begin(), config.targets.end(), column) == 0) {
      all.push_back(column);
    }
  }
  if (all.empty()) throw Error(ErrorCode::InvalidInput, file.name() + " has no input columns");
  return all;
}

std::vector<float> numbers_in(const CsvFile& file, const Numbers& rows, const Numbers& columns) {
  std::vector<float> all;
  all.reserve(rows.size() * columns.size());
  for (std::int64_t row : rows) {
    for (std::int64_t column : columns) {
      const auto number = number_of(file.field(row, column));
      if (!number) {
        throw Error(ErrorCode::Corrupt, file.place(row, column) + ": '" +
                                            std::string(file.field(row, column)) + "' in column '" +
                                            file.columns()[static_cast<std::size_t>(column)] +
                                            "' is no finite number");
      }
      all.push_back(*number);
    }
  }
  return all;
}

std::vector<std::string> classes_in(const CsvFile& file, const Numbers& rows, std::int64_t column) {
  std::vector<std::string> all;
  for (std::int64_t row : rows) all.emplace_back(file.field(row, column));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto is_number = [](const std::string& text) { return number_of(text).has_value(); };
  if (std::all_of(all.begin(), all.end(), is_number)) {
    std::stable_sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
      return *number_of(a) < *number_of(b);
    });
  }
  return all;
}

// What is learned from the rows trained on and applied to all.
struct Fit {
  std::vector<std::string> inputs;
  std::map<std::string, std::int64_t, std::less<>> classes;
  std::vector<float> mean;
  std::vector<float> deviation;
  Form form;
};

void fit_columns(Fit& fit, const std::vector<float>& inputs) {
  const std::size_t width = fit.inputs.size();
  const auto rows = static_cast<double>(inputs.size() / width);
  for (std::size_t column = 0; column < width; ++column) {
    double sum = 0;
    for (std::size_t i = column; i < inputs.size(); i += width) sum += inputs[i];
    const double mean = sum / rows;
    double squares = 0;
    for (std::size_t i = column; i < inputs.size(); i += width) {
      squares += (inputs[i] - mean) * (inputs[i] - mean);
    }
    const double deviation = std::sqrt(squares / rows);
    fit.mean.push_back(static_cast<float>(mean));
    // A column that never changes says nothing, and becomes zero.
    fit.deviation.push_back(deviation > 0 ? static_cast<float>(deviation) : 1.0F);
  }
}

Fit fit_to(const CsvFile& file, const Numbers& rows, const CsvConfig& config) {
  Fit fit;
  fit.inputs = inputs_of(file, config);
  fit.form.input_sizes = {std::ssize(fit.inputs)};
  if (config.task == Task::Regression) {
    fit.form.target_sizes = {std::ssize(config.targets)};
    fit.form.target_type = at::kFloat;
  } else {
    fit.form.class_names = classes_in(file, rows, index_of(file, config.targets.front()));
    fit.form.classes = std::ssize(fit.form.class_names);
    for (const std::string& name : fit.form.class_names) {
      fit.classes.emplace(name, std::ssize(fit.classes));
    }
  }
  if (config.are_columns_standardized) {
    fit_columns(fit, numbers_in(file, rows, indices_of(file, fit.inputs)));
  }
  return fit;
}

Numbers labels_in(const CsvFile& file, const Numbers& rows, std::int64_t column, const Fit& fit) {
  Numbers all;
  for (std::int64_t row : rows) {
    const auto found = fit.classes.find(file.field(row, column));
    if (found == fit.classes.end()) {
      throw Error(ErrorCode::Corrupt, file.place(row, column) + ": class '" +
                                          std::string(file.field(row, column)) +
                                          "' is in no row that is trained on; where the column " +
                                          "holds numbers to predict, data.task=regression");
    }
    all.push_back(found->second);
  }
  return all;
}

std::shared_ptr<const Source> source_of(const CsvFile& file, const Numbers& rows,
                                        const CsvConfig& config, const Fit& fit) {
  Rows content;
  content.inputs = numbers_in(file, rows, indices_of(file, fit.inputs));
  if (config.are_columns_standardized) {
    const std::size_t width = fit.inputs.size();
    for (std::size_t i = 0; i < content.inputs.size(); ++i) {
      content.inputs[i] = (content.inputs[i] - fit.mean[i % width]) / fit.deviation[i % width];
    }
  }
  const Numbers targets = indices_of(file, config.targets);
  if (config.task == Task::Regression) {
    content.values = numbers_in(file, rows, targets);
  } else {
    content.classes = labels_in(file, rows, targets.front(), fit);
  }
  return std::make_shared<CsvSource>(std::move(content), fit.form, std::ssize(rows));
}

CsvFile read(const std::filesystem::path& path, const CsvConfig& config) {
  CsvFile file = CsvFile::parse(read_file(path, kSizeMax), path, config.delimiter.front());
  if (file.rows() == 0) throw Error(ErrorCode::Corrupt, path.string() + ": has no rows");
  return file;
}

// Rows first .. end-1 of the file in the order of `seed`, sorted.
Numbers drawn(const Order& order, std::int64_t first, std::int64_t end) {
  Numbers all;
  for (std::int64_t k = first; k < end; ++k) all.push_back(order.sample(0, k));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

Sets open_csv(const CsvConfig& config) {
  if (config.train.empty() || config.targets.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "data.train and data.targets: name a CSV file and the column to predict");
  }
  const CsvFile file = read(config.train, config);
  const std::int64_t count = file.rows();
  const bool is_split = config.test.empty() && config.test_share > 0 && count > 1;
  const std::int64_t kept =
      is_split
          ? std::clamp<std::int64_t>(sequence::split_at(count, config.test_share), 1, count - 1)
          : count;
  const Order order(config.split_seed, count, is_split);
  const Numbers train = drawn(order, 0, kept);
  const Fit fit = fit_to(file, train, config);
  Sets sets{.train = source_of(file, train, config, fit), .test = nullptr};
  if (is_split) sets.test = source_of(file, drawn(order, kept, count), config, fit);
  if (!config.test.empty()) {
    const CsvFile other = read(config.test, config);
    Numbers all(static_cast<std::size_t>(other.rows()));
    std::iota(all.begin(), all.end(), 0);
    sets.test = source_of(other, all, config, fit);
  }
  return sets;
}

}  // namespace trireme::data::table
