// Section is a named table of a configuration, such as `[sync]`, and the structs that hold its
// settings.
//
// A section contains the fields of every struct passed to fields<T>(). If it has kinds, it also
// contains those of the kind selected by the setting `kind`; the first kind is the default. A
// program that links the library can add its own kinds to an existing section.
//
//   schema.section("model", "what is trained")
//       .kind<MlpConfig>("mlp", "layers of neurons")
//       .kind<GptConfig>("gpt", "a decoder-only transformer");
//
// Thread safety: one thread declares it; afterwards any thread may read it.
// Errors:        Misuse for a duplicate name, an enum without names, or a default that its own
//                field would refuse.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::config {

inline constexpr const char* kKindKey = "kind";

// One struct of a section, with its type erased.
struct SectionPart {
  std::string kind;  // empty if the part is always active
  std::string help;
  std::type_index type;
  std::vector<std::shared_ptr<const Field>> fields;
  std::function<std::shared_ptr<void>()> make;
  std::function<std::vector<std::string>(const void*)> complaints;  // violated requirements
};

class Section {
 public:
  Section(std::string name, std::string help);

  const std::string& name() const noexcept { return name_; }
  const std::string& help() const noexcept { return help_; }
  const std::vector<SectionPart>& parts() const noexcept { return parts_; }
  // Empty if the section has no kinds.
  std::vector<std::string> kinds() const;
  // "sync.ranks", or only the name if the section is the top level of the file.
  std::string key(const std::string& field) const;

  template <class Config>
  Section& fields() {
    return add(make_part<Config>("", ""));
  }
  template <class Config>
  Section& kind(const std::string& name, const std::string& help) {
    return add(make_part<Config>(name, help));
  }
  // What to do about a kind that the section does not have, because another program may add it.
  // Messages about unknown kinds end with it.
  Section& remedy_for_unknown_kinds(std::string remedy);
  const std::string& remedy_for_unknown_kinds() const noexcept { return remedy_; }
  // Adds a struct that this program does not define, from a description by the program that does.
  Section& add(SectionPart part);

 private:
  friend class Schema;

  template <class Config>
  static SectionPart make_part(const std::string& kind, const std::string& help) {
    Fields<Config> fields;
    Config::describe(fields);
    const auto requirements = fields.requirements();
    return {.kind = kind,
            .help = help,
            .type = typeid(Config),
            .fields = fields.all(),
            .make = [] { return std::make_shared<Config>(); },
            .complaints =
                [requirements](const void* config) {
                  std::vector<std::string> all;
                  for (const auto& requirement : requirements) {
                    std::string complaint = requirement(*static_cast<const Config*>(config));
                    if (!complaint.empty()) all.push_back(std::move(complaint));
                  }
                  return all;
                }};
  }
  void check_against(const SectionPart& part) const;

  std::string name_;
  std::string help_;
  std::vector<SectionPart> parts_;
  std::string remedy_;  // for unknown kinds
};

}  // namespace trireme::config
