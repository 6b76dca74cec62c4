#include "trireme/data/data_changes.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "trireme/base/config/value.h"
#include "trireme/data/tokenizer/files.h"

namespace trireme::data {
namespace {

using Names = std::set<std::string>;

constexpr std::size_t kNamesShown = 5;

Names without(const Names& all, const Names& others) {
  Names left;
  std::ranges::set_difference(all, others, std::inserter(left, left.end()));
  return left;
}

// `the new class "bird"`, `the new classes "bird", "fish"`
std::string phrase_of(const std::string& what, const std::string& one, const std::string& many,
                      const Names& names) {
  std::string text = what + (names.size() == 1 ? one : many);
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown == kNamesShown)
      return text + " and " + std::to_string(names.size() - shown) + " more";
    text += (shown++ == 0 ? " " : ", ") + config::quote_toml(name);
  }
  return text;
}

Names names_of(const std::map<std::string, std::int64_t, std::less<>>& numbered) {
  Names all;
  for (const auto& [name, number] : numbered) all.insert(name);
  return all;
}

Names names_of(const std::vector<table::InputColumn>& columns) {
  Names all;
  for (const table::InputColumn& column : columns) all.insert(column.name);
  return all;
}

std::string numbers_text(const char* what, double learned, double now) {
  char text[96];
  std::snprintf(text, sizeof text, "%s %.6g, now %.6g", what, learned, now);
  return text;
}

void compare_standards(std::vector<std::string>& changes, const std::string& column,
                       const Standard& learned, const Standard& now) {
  if (learned == now) return;
  const bool is_mean = learned.mean != now.mean;
  changes.push_back("column \"" + column + "\" had " +
                    (is_mean
                         ? numbers_text("mean", learned.mean, now.mean)
                         : numbers_text("standard deviation", learned.deviation, now.deviation)));
}

void compare_inputs(DataChanges& changes, const table::InputColumn& learned,
                    const table::InputColumn& now) {
  const Names known = names_of(learned.categories), found = names_of(now.categories);
  const Names fresh = without(found, known);
  if (!fresh.empty()) {
    changes.names.push_back("column \"" + learned.name + "\" has " +
                            phrase_of("the new ", "category", "categories", fresh));
  } else if (found != known) {
    changes.statistics.push_back(
        "column \"" + learned.name + "\" no longer has " +
        phrase_of("the ", "category", "categories", without(known, found)));
  }
  compare_standards(changes.statistics, learned.name, learned.standard, now.standard);
  if (learned.standard == now.standard && learned.fill && now.fill && *learned.fill != *now.fill) {
    changes.statistics.push_back("column \"" + learned.name + "\" had " +
                                 numbers_text("the fill value", *learned.fill, *now.fill));
  }
}

void compare_targets(DataChanges& changes, const table::TargetColumn& learned,
                     const table::TargetColumn& now) {
  const Names known = names_of(learned.classes), found = names_of(now.classes);
  const Names fresh = without(found, known);
  if (!fresh.empty()) {
    changes.names.push_back("column \"" + learned.name + "\" has " +
                            phrase_of("the new ", "class", "classes", fresh));
  } else if (found != known) {
    changes.statistics.push_back("column \"" + learned.name + "\" no longer has " +
                                 phrase_of("the ", "class", "classes", without(known, found)));
  }
  compare_standards(changes.statistics, learned.name, learned.standard, now.standard);
}

void compare_tables(DataChanges& changes, const table::Fit& learned, const table::Fit& now) {
  const Names known = names_of(learned.inputs.columns()), found = names_of(now.inputs.columns());
  const Names fresh = without(found, known), gone = without(known, found);
  if (!fresh.empty()) {
    changes.names.push_back("it has " + phrase_of("the new ", "column", "columns", fresh));
  }
  if (!gone.empty()) {
    changes.names.push_back("it no longer has " + phrase_of("the ", "column", "columns", gone));
  }
  bool is_reordered = false;
  for (std::size_t i = 0; i < learned.inputs.columns().size(); ++i) {
    const table::InputColumn& column = learned.inputs.columns()[i];
    const auto& others = now.inputs.columns();
    const auto same = std::ranges::find(others, column.name, &table::InputColumn::name);
    if (same == others.end()) continue;
    is_reordered |= static_cast<std::size_t>(same - others.begin()) != i;
    compare_inputs(changes, column, *same);
  }
  if (is_reordered && fresh.empty() && gone.empty()) {
    changes.statistics.emplace_back("its columns have another order");
  }
  for (const table::TargetColumn& target : learned.targets) {
    const auto same = std::ranges::find(now.targets, target.name, &table::TargetColumn::name);
    if (same != now.targets.end()) compare_targets(changes, target, *same);
  }
}

void compare_class_names(DataChanges& changes, const Form& learned, const Form& now) {
  const Names known(learned.class_names.begin(), learned.class_names.end());
  const Names found(now.class_names.begin(), now.class_names.end());
  const char* const one = now.is_text() ? "token" : "class";
  const char* const many = now.is_text() ? "tokens" : "classes";
  const Names fresh = without(found, known), gone = without(known, found);
  if (!fresh.empty()) {
    changes.names.push_back("there is " + phrase_of("the new ", one, many, fresh));
  }
  if (!gone.empty()) {
    changes.names.push_back("there is no longer " + phrase_of("the ", one, many, gone));
  }
  if (fresh.empty() && gone.empty()) {
    changes.names.push_back(std::string("the ") + many + " have another order");
  }
}

bool has_other_tokenizer(const Form& learned, const Form& now) {
  if (!learned.tokenizer || !now.tokenizer) return bool(learned.tokenizer) != bool(now.tokenizer);
  return tokenizer::write_tokenizer_json(*learned.tokenizer) !=
         tokenizer::write_tokenizer_json(*now.tokenizer);
}

void compare_forms(DataChanges& changes, const Form& learned, const Form& now) {
  if (learned.input_sizes != now.input_sizes || learned.input_type != now.input_type ||
      learned.target_sizes != now.target_sizes || learned.target_type != now.target_type) {
    changes.names.emplace_back("samples have other sizes or types");
  }
  if (has_other_tokenizer(learned, now)) {
    changes.names.emplace_back("data.tokenizer is another tokenizer");
  } else if (!now.tokenizer && learned.class_names != now.class_names) {
    compare_class_names(changes, learned, now);
  } else if (learned.classes != now.classes) {
    changes.names.push_back("there are " + std::to_string(now.classes) +
                            " classes, and there were " + std::to_string(learned.classes));
  }
}

}  // namespace

DataChanges changes_between(const Preprocessing& learned, const Preprocessing& now) {
  DataChanges changes;
  if (learned.table && now.table) {
    compare_tables(changes, *learned.table, *now.table);
  } else {
    compare_forms(changes, learned.source, now.source);
  }
  return changes;
}

std::string joined(const std::vector<std::string>& phrases) {
  std::string all;
  for (const std::string& phrase : phrases) all += (all.empty() ? "" : "; ") + phrase;
  return all;
}

}  // namespace trireme::data
