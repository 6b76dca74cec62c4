#include "trireme/base/config/schema_text.h"

#include <algorithm>
#include <vector>

namespace trireme::config {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : between) + part;
  }
  return text;
}

std::string kind_list(const Section& section) {
  std::vector<std::string> quoted;
  for (const std::string& kind : section.kinds()) quoted.push_back(quote_toml(kind));
  return "one of " + joined(quoted, ", ");
}

struct Row {
  std::string name;
  std::string value;  // the default, in TOML syntax
  std::string type;
  std::string range;
  std::string unit;
  std::string help;

  std::string details() const {
    return joined({type, range, unit.empty() ? "" : "in " + unit}, ", ");
  }
};

std::vector<Row> rows_of(const SectionPart& part) {
  const auto defaults = part.make();
  std::vector<Row> rows;
  for (const auto& field : part.fields) {
    const Value value = field->get(defaults.get());
    const bool is_set = !std::holds_alternative<std::monostate>(value.content);
    rows.push_back({.name = field->name(),
                    .value = is_set ? to_toml(value) : "",
                    .type = field->type(),
                    .range = field->range(),
                    .unit = field->unit(),
                    .help = field->help()});
  }
  return rows;
}

Row kind_row(const Section& section) {
  return {.name = kKindKey,
          .value = quote_toml(section.kinds().front()),
          .type = kind_list(section),
          .range = "",
          .unit = "",
          .help = "decides which of the settings below there are"};
}

std::string help_rows(const std::vector<Row>& rows, std::size_t indent) {
  constexpr std::size_t kWidest = 36;
  std::vector<std::string> left;
  std::size_t width = 0;
  for (const Row& row : rows) {
    left.push_back(row.name + (row.value.empty() ? "" : " = " + row.value));
    if (left.back().size() <= kWidest) width = std::max(width, left.back().size());
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string blanks(indent, ' ');
    text += blanks + left[i];
    // If the left column is too wide, the help text goes on the next line.
    const std::string gap = left[i].size() <= width ? std::string(width - left[i].size() + 2, ' ')
                                                    : "\n" + blanks + std::string(width + 2, ' ');
    text += gap + joined({rows[i].help, "(" + rows[i].details() + ")"}, " ") + "\n";
  }
  return text;
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string code(const std::string& text) {
  return text.empty() ? "not set" : "`" + text + "`";
}

std::string markdown_table(const std::vector<Row>& rows) {
  if (rows.empty()) return "No settings of its own.\n\n";
  std::string text = "| setting | type | range | default | meaning |\n|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    const std::string type = row.unit.empty() ? row.type : row.type + ", in " + row.unit;
    text += "| `" + row.name + "` | " + cell(type) + " | " + cell(row.range) + " | " +
            cell(code(row.value)) + " | " + cell(row.help) + " |\n";
  }
  return text + "\n";
}

std::string markdown_section(const Section& section) {
  std::string text =
      section.name().empty() ? "## Top of the file\n\n" : "## `[" + section.name() + "]`\n\n";
  if (!section.help().empty()) text += section.help() + "\n\n";
  std::vector<Row> rows;
  if (!section.kinds().empty()) rows.push_back(kind_row(section));
  for (const SectionPart& part : section.parts()) {
    if (!part.kind.empty()) continue;
    for (Row& row : rows_of(part)) rows.push_back(std::move(row));
  }
  if (!rows.empty()) text += markdown_table(rows);
  for (const SectionPart& part : section.parts()) {
    if (part.kind.empty()) continue;
    text += "### `kind = " + quote_toml(part.kind) + "`\n\n";
    if (!part.help.empty()) text += part.help + "\n\n";
    text += markdown_table(rows_of(part));
  }
  return text;
}

}  // namespace

std::string to_help(const Schema& schema) {
  std::string text;
  for (const Section& section : schema.sections()) {
    if (!text.empty()) text += "\n";
    text += joined({section.name().empty() ? "" : "[" + section.name() + "]", section.help()}, " ");
    text += "\n";
    if (!section.kinds().empty()) text += help_rows({kind_row(section)}, 2);
    for (const SectionPart& part : section.parts()) {
      const bool is_kind = !part.kind.empty();
      if (is_kind) text += "  kind = " + joined({quote_toml(part.kind), part.help}, ": ") + "\n";
      text += help_rows(rows_of(part), is_kind ? 4 : 2);
    }
  }
  return text;
}

std::string to_markdown(const Schema& schema) {
  std::string text =
      "# Settings\n\n"
      "A job is described by a TOML file. Every setting has a default, and `section.key=value`\n"
      "overrides it. This page is made from the declarations in the code, and a test compares "
      "them.\n"
      "\n"
      "Durations are a number and `ns`, `us`, `ms`, `s`, `min`, `h` or `d`: `\"250 ms\"`. Byte\n"
      "sizes are a number and `B`, `KiB`, `MiB`, `GiB` or `TiB`: `\"64 MiB\"`.\n\n";
  for (const Section& section : schema.sections()) text += markdown_section(section);
  text.pop_back();
  return text;
}

}  // namespace trireme::config
