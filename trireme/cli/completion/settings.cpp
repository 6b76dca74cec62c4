#include <algorithm>

#include "trireme/cli/completion/candidates.h"

namespace trireme::cli::completion {
namespace {

using config::Section;
using config::SectionPart;

// Different kinds of a section have settings of the same name; each is offered once.
void add_once(std::vector<Candidate>& all, Candidate one) {
  if (std::ranges::find(all, one.word, &Candidate::word) == all.end()) {
    all.push_back(std::move(one));
  }
}

std::vector<Candidate> values_of(const Section& section, const std::string& name) {
  std::vector<Candidate> values;
  if (name == config::kKindKey) {
    for (const SectionPart& part : section.parts()) {
      if (!part.kind.empty()) add_once(values, {part.kind, part.help});
    }
  }
  for (const SectionPart& part : section.parts()) {
    for (const auto& field : part.fields) {
      if (field->name() != name) continue;
      for (const std::string& value : field->names()) add_once(values, {value});
      if (field->type() == "boolean") {
        add_once(values, {"true"});
        add_once(values, {"false"});
      }
    }
  }
  return values;
}

void add_settings(const Section& section, std::vector<Candidate>& all) {
  if (!section.kinds().empty()) {
    add_once(all, {section.key(config::kKindKey) + "=", section.help()});
  }
  for (const SectionPart& part : section.parts()) {
    for (const auto& field : part.fields) {
      add_once(all, {section.key(field->name()) + "=", field->help()});
    }
  }
}

}  // namespace

std::vector<Candidate> setting_candidates(const config::Schema& schema, std::string_view typed) {
  std::vector<Candidate> all;
  const std::size_t equals = typed.find('=');
  for (const Section& section : schema.sections()) {
    if (equals != typed.npos) {
      const std::string prefix = section.key("");
      if (!typed.starts_with(prefix)) continue;
      const std::string name(typed.substr(prefix.size(), equals - prefix.size()));
      for (Candidate& value : values_of(section, name)) {
        add_once(all, {prefix + name + "=" + value.word, std::move(value.help)});
      }
    } else if (section.name().empty() || typed.find('.') != typed.npos) {
      add_settings(section, all);
    } else {
      add_once(all, {section.name() + ".", section.help()});
    }
  }
  std::erase_if(all, [&](const Candidate& one) { return !one.word.starts_with(typed); });
  return all;
}

}  // namespace trireme::cli::completion
