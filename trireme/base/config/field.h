// Field is one setting of a part, declared once: name, type, range, unit and help. All code that
// reads, writes or describes a configuration uses this interface. MemberField implements it for a
// member of a struct; authors of parts call its setters.
//
//   f.add("ranks", &RunConfig::ranks).range(1, 4096).help("worker processes to start");
//
// Thread safety: one thread declares it; afterwards any thread may read it.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/config/field_type.h"
#include "trireme/base/config/rules.h"
#include "trireme/base/config/value.h"

namespace trireme::config {

class Field {
 public:
  explicit Field(std::string name) : name_(std::move(name)) {}
  virtual ~Field() = default;

  // The name within its section. A field of a nested struct has a dotted name.
  const std::string& name() const noexcept { return name_; }
  // What other training programs call it. A configuration that uses one of these names is refused
  // with the right one.
  const std::vector<std::string>& synonyms() const noexcept { return synonyms_; }
  void set_synonyms(std::vector<std::string> names) { synonyms_ = std::move(names); }
  virtual std::string help() const = 0;
  // For example "integer", "1 to 4096" and "worker processes". Only range and unit may be empty.
  virtual std::string type() const = 0;
  virtual std::string range() const = 0;
  virtual std::string unit() const = 0;
  virtual Shape shape() const = 0;
  // The same for programs: an empty value if there is no bound, no names if it is not an enum.
  virtual Value least() const { return {}; }
  virtual Value most() const { return {}; }
  virtual std::vector<std::string> names() const { return {}; }

  // Throws InvalidInput and leaves the member unchanged if the value is invalid.
  virtual void set(void* config, const Value& value) const = 0;
  virtual Value get(const void* config) const = 0;

 private:
  std::string name_;
  std::vector<std::string> synonyms_;
};

template <class Config, class Member>
class MemberField final : public Field {
 public:
  using Type = FieldType<Member>;
  using Element = typename Type::Element;

  MemberField(std::string name, Member Config::* member)
      : Field(std::move(name)), member_(member) {}

  MemberField& help(std::string text) { return help_ = std::move(text), *this; }
  MemberField& unit(std::string text) { return unit_ = std::move(text), *this; }
  // Both bounds are inclusive. For a list, the range applies to each item.
  MemberField& range(Element least, Element most) { return at_least(least).at_most(most); }
  MemberField& at_least(Element least) { return rules_.least = std::move(least), *this; }
  MemberField& at_most(Element most) { return rules_.most = std::move(most), *this; }
  // All values of an enum: .names({{"auto", Backend::Auto}, {"shm", Backend::Shm}}).
  MemberField& names(std::vector<std::pair<std::string, Element>> all)
    requires std::is_enum_v<Element>
  {
    return rules_.names = std::move(all), *this;
  }
  MemberField& synonyms(std::vector<std::string> names) {
    return set_synonyms(std::move(names)), *this;
  }
  // An additional check: returns a description of what is wrong with the value, or "".
  MemberField& check(std::function<std::string(const Member&)> complaint) {
    return complaint_ = std::move(complaint), *this;
  }

  using Field::synonyms;
  std::string help() const override { return help_; }
  std::string type() const override { return Type::name(rules_); }
  std::string range() const override { return range_text(rules_); }
  std::string unit() const override { return unit_; }
  Shape shape() const override { return Type::kShape; }
  Value least() const override { return bound(rules_.least); }
  Value most() const override { return bound(rules_.most); }
  std::vector<std::string> names() const override { return rules_.only_names(); }

  void set(void* config, const Value& value) const override {
    Member member = Type::read(value, rules_);
    const std::string complaint = complaint_ ? complaint_(member) : std::string();
    if (!complaint.empty()) refuse(value, complaint);
    static_cast<Config*>(config)->*member_ = std::move(member);
  }
  Value get(const void* config) const override {
    return Type::write(static_cast<const Config*>(config)->*member_, rules_);
  }

 private:
  Value bound(const std::optional<Element>& element) const {
    return element ? FieldType<Element>::write(*element, rules_) : Value{};
  }

  Member Config::* member_;
  Rules<Element> rules_;
  std::string help_;
  std::string unit_;
  std::function<std::string(const Member&)> complaint_;
};

}  // namespace trireme::config
