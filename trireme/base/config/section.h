// Section is a named table of a configuration, `[sync]`, and the structs that hold its settings.
//
// A section has the fields of every struct given to fields<T>(), and, where it has kinds, those of
// the one kind that its setting `kind` names. The first kind is the default. A program that links
// the library adds kinds of its own to a section that exists already.
//
//   schema.section("model", "what is trained")
//       .kind<MlpConfig>("mlp", "layers of neurons")
//       .kind<GptConfig>("gpt", "a decoder-only transformer");
//
// Threads: declared by one thread, read by any afterwards.
// Failure: Misuse for a name that is taken, an enum without names, or a default that its own field
//          would refuse.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::config {

inline constexpr const char* kKindKey = "kind";

// One struct of a section, without its type.
struct Part {
  std::string kind;  // empty: always there
  std::string help;
  std::type_index type;
  std::vector<std::shared_ptr<const Field>> fields;
  std::function<std::shared_ptr<void>()> make;
  std::function<std::vector<std::string>(const void*)> complaints;  // of its requirements
};

class Section {
 public:
  Section(std::string name, std::string help);

  const std::string& name() const noexcept { return name_; }
  const std::string& help() const noexcept { return help_; }
  const std::vector<Part>& parts() const noexcept { return parts_; }
  // Empty where the section has none.
  std::vector<std::string> kinds() const;
  // "sync.ranks", or the name alone where the section is the top of the file.
  std::string key(const std::string& field) const;

  template <class Config>
  Section& fields() {
    return add(make_part<Config>("", ""));
  }
  template <class Config>
  Section& kind(const std::string& name, const std::string& help) {
    return add(make_part<Config>(name, help));
  }
  // A struct that this program does not have, described by one that does.
  Section& add(Part part);

 private:
  friend class Schema;

  template <class Config>
  static Part make_part(const std::string& kind, const std::string& help) {
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
  void check_against(const Part& part) const;

  std::string name_;
  std::string help_;
  std::vector<Part> parts_;
};

}  // namespace trireme::config
