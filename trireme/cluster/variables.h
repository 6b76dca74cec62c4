// Variables reads settings out of the environment, or what a test says the environment is.
//
// An empty variable counts as unset, since shells make them by accident.
//
// Failure: InvalidInput, naming the variable, its value and what was expected.
// Lifetime: the lookup must outlive it.

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace trireme::cluster {

// std::getenv, or a test's own; null where unset.
using Lookup = std::function<const char*(const char* name)>;

// What this process was started with.
const char* process_environment(const char* name);

class Variables {
 public:
  explicit Variables(const Lookup& lookup) : lookup_(lookup) {}

  bool has(const char* name) const { return text(name).has_value(); }
  std::optional<std::string> text(const char* name) const;
  // A whole number in [least, most].
  std::optional<int> number(const char* name, int least, int most) const;
  // The same, for one that must be there because another is.
  int need(const char* name, const char* because, int least, int most) const;

 private:
  const Lookup& lookup_;
};

}  // namespace trireme::cluster
