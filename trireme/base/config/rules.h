// Rules are the constraints on a field's value, or on each item of a list: a range, or the names of
// an enum's values.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        the checks throw InvalidInput; name_of() of a value without a name is Misuse.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/config/value.h"

namespace trireme::config {

template <class Member>
struct FieldType;

// Both throw an error such as "<value> is less than <least>, the least allowed".
[[noreturn]] void refuse_less(const Value& value, const Value& least);
[[noreturn]] void refuse_more(const Value& value, const Value& most);

template <class Element>
struct Rules {
  std::optional<Element> least;
  std::optional<Element> most;
  std::vector<std::pair<std::string, Element>> names;

  const std::string& name_of(const Element& element) const {
    for (const auto& [name, value] : names) {
      if (value == element) return name;
    }
    TRIREME_CHECK(false, "an enum's value has no name; say .names({...}) with all of them");
  }
  std::vector<std::string> only_names() const {
    std::vector<std::string> all;
    all.reserve(names.size());
    for (const auto& [name, value] : names) all.push_back(name);
    return all;
  }
  // "a", "b"
  std::string list_names() const {
    std::string all;
    for (const auto& [name, value] : names) all += (all.empty() ? "" : ", ") + quote_toml(name);
    return all;
  }
};

template <class Element>
void check_range(const Value& value, const Element& element, const Rules<Element>& rules) {
  using Type = FieldType<Element>;
  if (rules.least && element < *rules.least) refuse_less(value, Type::write(*rules.least, rules));
  if (rules.most && element > *rules.most) refuse_more(value, Type::write(*rules.most, rules));
}

// "1 to 4096", "at least 0 s", or "" if there is no range.
template <class Element>
std::string range_text(const Rules<Element>& rules) {
  using Type = FieldType<Element>;
  if (rules.least && rules.most) {
    return to_plain(Type::write(*rules.least, rules)) + " to " +
           to_plain(Type::write(*rules.most, rules));
  }
  if (rules.least) return "at least " + to_plain(Type::write(*rules.least, rules));
  if (rules.most) return "at most " + to_plain(Type::write(*rules.most, rules));
  return {};
}

}  // namespace trireme::config
