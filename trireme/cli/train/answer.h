// Commands that a worker runs in one process and without a job: eval, generate, export, mesh.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/cli/command.h"
#include "trireme/cli/train/worker.h"

namespace trireme::cli {

// The common arguments: the job's folder, settings, a checkpoint, a worker.
struct AnswerWords {
  std::string verb;  // the worker's subcommand
  std::string output;
  std::string worker;
  std::vector<std::string> options;  // "--count", "100", ... as the worker expects them
  std::vector<std::string> overrides;
};

inline constexpr const char* kCheckpointHelp =
    "the best by eval.metric, or that of step N (default: the newest whole one)";

// The setter of --checkpoint: rejects values that are neither `best` nor a step, and passes others
// to `set`.
Setter checked_checkpoint(Setter set);

// Adds the common options. The caller adds its own with hand_on().
std::shared_ptr<AnswerWords> answer_words(Command& command, const std::string& verb);

// A setter that passes an option on unchanged.
Setter hand_on(const std::shared_ptr<AnswerWords>& words, const std::string& option);

// Replaces this process with the worker; throws if that fails.
[[noreturn]] void become_worker(const AnswerWords& words);
// The same with these words.
[[noreturn]] void become_worker(const Worker& worker, std::vector<std::string> words);

}  // namespace trireme::cli
