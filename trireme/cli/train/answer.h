// Commands that a worker answers by itself, in one process and without a job: eval, generate.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/cli/command.h"

namespace trireme::cli {

// What both have: the job's folder, settings, a checkpoint, a worker.
struct AnswerWords {
  std::string verb;  // of the worker
  std::string output;
  std::string worker;
  std::vector<std::string> options;  // "--count", "100", ... as the worker takes them
  std::vector<std::string> overrides;
};

// Adds the common options. The caller adds its own with hand_on().
std::shared_ptr<AnswerWords> answer_words(Command& command, const std::string& verb);

// A setter that passes an option on as it is.
Setter hand_on(const std::shared_ptr<AnswerWords>& words, const std::string& option);

// Becomes the worker; returns only where that fails, by an exception.
[[noreturn]] void become_worker(const AnswerWords& words);

}  // namespace trireme::cli
