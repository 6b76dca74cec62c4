// WorkerWords is a worker's command line: a command, options with values, and flags.
//
// Failure: InvalidInput for a word that no command has, an option without its value, or a number
//          that is none or outside its range.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trireme::train {

class WorkerWords {
 public:
  WorkerWords(int argc, char** argv);

  const std::string& command() const noexcept { return command_; }
  bool has(const std::string& flag) const { return values_.contains(flag); }
  // REQUIRES a value unless there is a default.
  std::string text(const std::string& option) const;
  std::string text(const std::string& option, const std::string& otherwise) const;
  // A finite number from `least` to `most`.
  double number(const std::string& option, double otherwise, double least, double most) const;
  // A whole one of at least `least`.
  std::int64_t integer(const std::string& option, std::int64_t otherwise,
                       std::int64_t least = 0) const;
  // Every --set.
  const std::vector<std::string>& overrides() const noexcept { return overrides_; }

 private:
  std::string command_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> overrides_;
};

}  // namespace trireme::train
