// Variables reads settings from the environment, or from a test's replacement for it.
//
// An empty variable counts as unset, since shells create them by accident.
//
// Errors:   InvalidInput, with the variable's name, its value and what was expected.
// Lifetime: the lookup must outlive it.

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace trireme::cluster {

// std::getenv, or a test's replacement; null if unset.
using Lookup = std::function<const char*(const char* name)>;

// Reads the environment that this process was started with.
const char* process_environment(const char* name);

class Variables {
 public:
  explicit Variables(const Lookup& lookup) : lookup_(lookup) {}

  bool has(const char* name) const { return text(name).has_value(); }
  std::optional<std::string> text(const char* name) const;
  // An integer in [least, most].
  std::optional<int> number(const char* name, int least, int most) const;
  // The same, for a variable that is required because `because` is set.
  int need(const char* name, const char* because, int least, int most) const;

 private:
  const Lookup& lookup_;
};

}  // namespace trireme::cluster
