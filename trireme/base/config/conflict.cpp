#include "trireme/base/config/conflict.h"

#include <algorithm>
#include <utility>

namespace trireme::config {
namespace {

bool holds(const Condition& condition, const ValueOf& value_of) {
  const Value value = value_of(condition.key);
  if (std::holds_alternative<std::monostate>(value.content)) return false;
  const auto& all = condition.values;
  return (std::find(all.begin(), all.end(), value) != all.end()) != condition.is_negated;
}

bool is_there(const Conflict& conflict, const ValueOf& value_of) {
  return std::ranges::all_of(conflict.conditions,
                             [&](const Condition& one) { return holds(one, value_of); });
}

const Conflict* first_of(const std::vector<Conflict>& conflicts, const ValueOf& value_of) {
  const auto found =
      std::ranges::find_if(conflicts, [&](const Conflict& one) { return is_there(one, value_of); });
  return found == conflicts.end() ? nullptr : &*found;
}

// The alternatives with which nothing is refused.
std::string alternatives_of(const Conflict& conflict, const std::vector<Conflict>& conflicts,
                            const ValueOf& value_of) {
  std::string names;
  for (const std::string& name : conflict.alternatives) {
    const ValueOf with_it = [&](std::string_view key) {
      return key == conflict.key ? Value{name} : value_of(key);
    };
    if (first_of(conflicts, with_it) == nullptr) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace

Condition is(std::string key, List values) {
  return {.key = std::move(key), .values = std::move(values)};
}

Condition is_not(std::string key, List values) {
  return {.key = std::move(key), .values = std::move(values), .is_negated = true};
}

std::string complaint_of(const std::vector<Conflict>& conflicts, const ValueOf& value_of) {
  const Conflict* const found = first_of(conflicts, value_of);
  if (found == nullptr) return {};
  if (found->key.empty()) return found->why;
  const std::string names = alternatives_of(*found, conflicts, value_of);
  return found->key + " = " + to_brief(value_of(found->key)) + " " + found->why + "; " +
         (names.empty() ? "" : "use one of " + names + ", or ") + found->remedy;
}

std::string complaint_of(const std::vector<Conflict>& conflicts, const KeyedValues& facts) {
  return complaint_of(conflicts, [&](std::string_view key) {
    const auto found = facts.find(key);
    return found == facts.end() ? Value{} : found->second;
  });
}

}  // namespace trireme::config
