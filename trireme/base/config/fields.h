// Fields is the declaration of a part's settings. The reader, overrides, --help and docs/config.md
// are all derived from it, so they cannot contradict each other.
//
//   struct RunConfig {
//     int ranks = 1;
//     Duration grace = 5s;
//
//     static void describe(config::Fields<RunConfig>& f) {
//       f.add("ranks", &RunConfig::ranks).range(1, 4096).help("worker processes to start");
//       f.add("grace", &RunConfig::grace).help("between asking a worker to end and killing it");
//     }
//   };
//
// The defaults are those of the struct. There are no required settings: the author must provide a
// default that works, or use std::optional together with require().
//
// Thread safety: one thread.
// Errors:        Misuse for a duplicate name or one with characters other than a-z, 0-9 and _.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/config/field.h"

namespace trireme::config {

void check_name(std::string_view name);

// A field of a nested struct.
template <class Config, class Inner>
class NestedField final : public Field {
 public:
  NestedField(std::string name, Inner Config::* member, std::shared_ptr<const Field> field)
      : Field(std::move(name)), member_(member), field_(std::move(field)) {
    set_synonyms(field_->synonyms());
  }

  std::string help() const override { return field_->help(); }
  std::string type() const override { return field_->type(); }
  std::string range() const override { return field_->range(); }
  std::string unit() const override { return field_->unit(); }
  Shape shape() const override { return field_->shape(); }
  Value least() const override { return field_->least(); }
  Value most() const override { return field_->most(); }
  std::vector<std::string> names() const override { return field_->names(); }
  void set(void* config, const Value& value) const override {
    field_->set(&(static_cast<Config*>(config)->*member_), value);
  }
  Value get(const void* config) const override {
    return field_->get(&(static_cast<const Config*>(config)->*member_));
  }

 private:
  Inner Config::* member_;
  std::shared_ptr<const Field> field_;
};

template <class Config>
class Fields {
 public:
  // `Base` is Config, or a struct that Config is derived from.
  template <class Member, class Base>
  MemberField<Config, Member>& add(std::string name, Member Base::* member) {
    check_name(name);
    auto field = std::make_shared<MemberField<Config, Member>>(std::move(name), member);
    all_.push_back(field);
    return *field;
  }

  // Adds the settings of a struct that is a member of this one: `[section.name]` in a file.
  template <class Inner, class Base>
  void nest(const std::string& name, Inner Base::* member) {
    check_name(name);
    Fields<Inner> inner;
    Inner::describe(inner);
    for (const auto& field : inner.all()) {
      all_.push_back(
          std::make_shared<NestedField<Config, Inner>>(name + "." + field->name(), member, field));
    }
    for (const auto& requirement : inner.requirements()) {
      require([member, requirement](const Config& c) { return requirement(c.*member); });
    }
  }

  // A condition on several settings: returns a description of what is wrong, or "". It is checked
  // only if each of the settings is valid by itself.
  void require(std::function<std::string(const Config&)> complaint) {
    requirements_.push_back(std::move(complaint));
  }

  const std::vector<std::shared_ptr<const Field>>& all() const noexcept { return all_; }
  const auto& requirements() const noexcept { return requirements_; }

 private:
  std::vector<std::shared_ptr<const Field>> all_;
  std::vector<std::function<std::string(const Config&)>> requirements_;
};

}  // namespace trireme::config
