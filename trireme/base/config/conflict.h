// A Conflict is a combination of settings that is refused. It is data, so that a schema takes it to
// programs that do not define the settings (schema_json.h), and they refuse it with the same words.
//
//   schema.refuse({.conditions = {is("balance.kind", {"static"}), is("elastic.enabled", {true})},
//                  .why = "balance.kind = \"static\" is not supported in elastic jobs; ..."});
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config/value.h"

namespace trireme::config {

// Values that no configuration states, such as the hosts of a job, or that replace its own, by key.
using KeyedValues = std::map<std::string, Value, std::less<>>;

// It does not hold if the value is unknown or not set.
struct Condition {
  std::string key;
  List values;              // one of these
  bool is_negated = false;  // another value instead
};
Condition is(std::string key, List values);
Condition is_not(std::string key, List values);

struct Conflict {
  std::vector<Condition> conditions;  // if all of them hold, the combination is refused
  // The message. With a key it continues "key = value": "does not support ...", and is followed by
  // those of the alternatives that no conflict refuses, and by the remedy.
  std::string why;
  std::string key{};
  std::vector<std::string> alternatives{};
  std::string remedy{};
};

// Returns monostate for an unknown value.
using ValueOf = std::function<Value(std::string_view key)>;

// The message about the first conflict between these values; empty if there is none.
std::string complaint_of(const std::vector<Conflict>& conflicts, const ValueOf& value_of);
std::string complaint_of(const std::vector<Conflict>& conflicts, const KeyedValues& facts);

}  // namespace trireme::config
