#include "trireme/base/config/reader.h"

#include <algorithm>

#include "trireme/base/config/override.h"
#include "trireme/base/config/report.h"
#include "trireme/base/config/resolver.h"
#include "trireme/base/config/toml_reader.h"
#include "trireme/base/file/file.h"

namespace trireme::config {
namespace {

bool is_passed_over(const std::vector<std::string>& only, const std::string& key) {
  return !only.empty() && std::ranges::none_of(only, [&](const std::string& one) {
    return one.ends_with('.') ? key.starts_with(one) : key == one;
  });
}

void hear_file(const ConfigText& file, int source, Resolver& resolver, Report& report,
               std::vector<Statement>& statements) {
  ConfigLocation place{.source = source, .name = file.name};
  const TomlDocument document = read_toml(file.text, place, report);
  for (const TomlTable& table : document.tables) {
    place.line = table.line;
    resolver.open(table.key, place);
  }
  for (const TomlEntry& entry : document.entries) {
    place.line = entry.line;
    statements.push_back({.key = entry.key, .value = entry.value, .place = place});
  }
}

void hear_override(const std::string& argument, int source, Report& report,
                   std::vector<Statement>& statements) {
  const std::string shown = to_brief({argument});
  const ConfigLocation place{.source = source, .name = "override " + shown};
  if (auto said = split_override(argument)) {
    statements.push_back({.key = dotted_toml(said->key),
                          .value = {std::move(said->text)},
                          .is_override = true,
                          .place = place});
  } else {
    report.add({.place = place, .key = "", .what = "is not of the form key=value"});
  }
}

}  // namespace

ConfigText load_config(const std::filesystem::path& path) {
  return {.name = path.string(), .text = read_file(path, kTomlSizeMax)};
}

Config read_config(const Schema& schema, const Sources& sources) {
  Report report;
  Resolver resolver(schema, report);
  std::vector<Statement> statements;
  int source = 0;
  for (const GivenSetting& each : sources.given) {
    statements.push_back(
        {.key = each.key, .value = each.value, .place = {.source = source++, .name = each.origin}});
  }
  for (const ConfigText& file : sources.files) {
    hear_file(file, source++, resolver, report, statements);
  }
  for (const std::string& argument : sources.overrides) {
    hear_override(argument, source++, report, statements);
  }
  std::erase_if(statements,
                [&](const Statement& each) { return is_passed_over(sources.only, each.key); });
  resolver.resolve(statements);
  report.throw_if_any();
  return resolver.finish();
}

}  // namespace trireme::config
