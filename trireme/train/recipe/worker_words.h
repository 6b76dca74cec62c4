// WorkerWords is a worker's command line: a command, options with values, and flags.
//
// Errors:        InvalidInput for an unknown argument, an option without a value, and a value that
//                is not a number or out of range.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trireme::train {

class WorkerWords {
 public:
  // `words`: those after the name of the program.
  explicit WorkerWords(const std::vector<std::string>& words);

  const std::string& command() const noexcept { return command_; }
  bool has(const std::string& flag) const { return values_.contains(flag); }
  // Throws InvalidInput if the option is missing and has no default.
  std::string text(const std::string& option) const;
  std::string text(const std::string& option, const std::string& otherwise) const;
  // A finite number from `least` to `most`.
  double number(const std::string& option, double otherwise, double least, double most) const;
  // An integer of at least `least`.
  std::int64_t integer(const std::string& option, std::int64_t otherwise,
                       std::int64_t least = 0) const;
  // The parts of an option's value, which commas separate; empty if the option is not given.
  std::vector<std::string> list(const std::string& option) const;
  // The values of all --set options.
  const std::vector<std::string>& overrides() const noexcept { return overrides_; }

 private:
  std::string command_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> overrides_;
};

}  // namespace trireme::train
