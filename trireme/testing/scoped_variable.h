// ScopedVariable sets or removes an environment variable during its lifetime, so that tests of one
// process do not affect each other.
//
// Thread safety: no other thread may read the environment at the same time.

#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace trireme::testing {

class ScopedVariable {
 public:
  // std::nullopt removes the variable.
  ScopedVariable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~ScopedVariable() { set(before_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

  void set(const std::optional<std::string>& value) {
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace trireme::testing
