#include "trireme/data/table/missing.h"

#include <algorithm>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/base/moments.h"

namespace trireme::data::table {
namespace {

constexpr std::size_t kLinesShown = 5;

std::string lower(std::string_view text) {
  std::string all;
  for (const char letter : text) {
    all += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return all;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

struct ColumnGaps {
  std::string name;
  bool is_target = false;
  bool is_number = true;
  std::vector<std::int64_t> rows = {};
};

// `"age" 10 (lines 17, 20, 33, 40, 51, ...), "town" 1 (line 5)`
std::string text_of(const std::vector<ColumnGaps>& columns, const Table& table) {
  std::string all;
  for (const ColumnGaps& column : columns) {
    all += (all.empty() ? "\"" : ", \"") + column.name + "\" " +
           std::to_string(column.rows.size()) + (column.rows.size() == 1 ? " (line " : " (lines ");
    for (std::size_t i = 0; i < std::min(kLinesShown, column.rows.size()); ++i) {
      all += (i == 0 ? "" : ", ") + std::to_string(table.line(column.rows[i]));
    }
    all += column.rows.size() > kLinesShown ? ", ...)" : ")";
  }
  return all;
}

struct Gaps {
  std::vector<ColumnGaps> columns;  // columns with missing values
  RowNumbers rows;                  // rows with missing values, ascending
  std::size_t count = 0;

  // "14 values are missing in 12 of 1000 rows: ..."
  std::string text(const Table& table) const {
    return std::to_string(count) + (count == 1 ? " value is" : " values are") + " missing in " +
           std::to_string(rows.size()) + " of " + std::to_string(table.rows()) +
           " rows: " + text_of(columns, table);
  }
};

Gaps find_gaps(const Table& table, std::vector<ColumnGaps> columns, const Missing& missing) {
  Gaps gaps;
  for (ColumnGaps& column : columns) {
    const std::int64_t index = index_of(table, column.name);
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      if (missing.is_missing(table.field(row, index))) column.rows.push_back(row);
    }
    gaps.count += column.rows.size();
    gaps.rows.insert(gaps.rows.end(), column.rows.begin(), column.rows.end());
  }
  std::erase_if(columns, [](const ColumnGaps& column) { return column.rows.empty(); });
  gaps.columns = std::move(columns);
  std::sort(gaps.rows.begin(), gaps.rows.end());
  gaps.rows.erase(std::unique(gaps.rows.begin(), gaps.rows.end()), gaps.rows.end());
  return gaps;
}

// Text in place of a number would be refused.
std::string remedy_for(const std::vector<ColumnGaps>& columns) {
  const bool has_numbers = std::ranges::any_of(columns, &ColumnGaps::is_number);
  return std::string("Set data.missing = \"mean\", \"median\", \"drop\"") +
         (has_numbers ? " or a number" : ", a number or \"value:TEXT\"") + ", or remove the rows.";
}

// Reports the first missing value of `column`, with the counts of all columns.
[[noreturn]] void refuse(const Table& table, const Gaps& gaps, const ColumnGaps& column,
                         const std::string& remedy) {
  const std::int64_t row = column.rows.front();
  throw Error(ErrorCode::InvalidInput,
              table.line_of(row) + ": expected a " + (column.is_number ? "number" : "value") +
                  " in column \"" + column.name + "\", found \"" +
                  std::string(table.field(row, index_of(table, column.name))) + "\". " +
                  gaps.text(table) + ". " + remedy);
}

}  // namespace

Missing::Missing(std::string setting, const std::vector<std::string>& texts)
    : setting_(std::move(setting)) {
  kind_ = setting_ == "error"    ? Kind::Error
          : setting_ == "drop"   ? Kind::Drop
          : setting_ == "mean"   ? Kind::Mean
          : setting_ == "median" ? Kind::Median
                                 : Kind::Value;
  if (kind_ == Kind::Value) {
    value_ = setting_.starts_with(kValuePrefix) ? setting_.substr(kValuePrefix.size()) : setting_;
  }
  for (const std::string& text : texts) texts_.push_back(lower(text));
}

Missing::Missing(const TableConfig& config) : Missing(config.missing, config.missing_values) {
  names_ = config.categories;
  const auto& classes =
      config.task == TableTask::Classification ? config.targets : config.class_targets;
  names_.insert(names_.end(), classes.begin(), classes.end());
}

bool Missing::is_missing(std::string_view field) const {
  const std::string_view text = without_blanks(field);
  // Most fields are longer than any of these texts, so the sizes are compared first.
  return std::any_of(texts_.begin(), texts_.end(), [&](const std::string& missing) {
    return missing.size() == text.size() && missing == lower(text);
  });
}

std::optional<double> Missing::fill_of(std::vector<double> present) const {
  if (kind_ == Kind::Value) return number_of(value_);
  if (kind_ == Kind::Error || kind_ == Kind::Drop || present.empty()) return std::nullopt;
  if (kind_ == Kind::Mean) {
    Moments moments;
    for (const double value : present) moments.add(value);
    return moments.mean;
  }
  const std::size_t middle = present.size() / 2;
  std::sort(present.begin(), present.end());
  return present.size() % 2 == 1 ? present[middle] : (present[middle - 1] + present[middle]) / 2;
}

RowNumbers Missing::usable_rows(const Table& table, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& targets,
                                std::vector<std::string>& notes) const {
  std::vector<ColumnGaps> columns;
  for (const std::string& name : inputs) columns.push_back({.name = name});
  for (const std::string& name : targets) columns.push_back({.name = name, .is_target = true});
  for (ColumnGaps& column : columns) {
    column.is_number = std::find(names_.begin(), names_.end(), column.name) == names_.end();
  }
  const Gaps gaps = find_gaps(table, std::move(columns), *this);
  RowNumbers all(static_cast<std::size_t>(table.rows()));
  std::iota(all.begin(), all.end(), 0);
  if (gaps.count == 0) return all;
  if (kind_ == Kind::Drop) {
    RowNumbers kept;
    std::set_difference(all.begin(), all.end(), gaps.rows.begin(), gaps.rows.end(),
                        std::back_inserter(kept));
    if (kept.empty()) {
      throw Error(ErrorCode::InvalidInput,
                  table.name() + ": data.missing = \"drop\" leaves no row: " + gaps.text(table) +
                      ". Leave columns out of data.inputs, or set data.missing = \"mean\".");
    }
    notes.push_back(table.name() + ": dropped " + std::to_string(gaps.rows.size()) + " of " +
                    std::to_string(table.rows()) +
                    " rows with missing values: " + text_of(gaps.columns, table));
    return kept;
  }
  for (const ColumnGaps& column : gaps.columns) {
    if (!column.is_target) continue;
    refuse(table, gaps, column,
           "A missing target cannot be filled in: set data.missing = \"drop\" or remove the rows.");
  }
  if (kind_ == Kind::Error) {
    // Without targets this is a file for prediction, and values that were not learned cannot be
    // filled in.
    const bool is_predicted = targets.empty();
    refuse(table, gaps, gaps.columns.front(),
           is_predicted
               ? "Correct the rows, or set data.missing = \"drop\": they then have no prediction."
               : remedy_for(gaps.columns));
  }
  notes.push_back(table.name() + ": filled in " + std::to_string(gaps.count) +
                  (gaps.count == 1 ? " missing value" : " missing values") + " (data.missing = \"" +
                  setting_ + "\"): " + text_of(gaps.columns, table));
  return all;
}

}  // namespace trireme::data::table
