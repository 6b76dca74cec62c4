// The command that continues a job that ended early: the arguments that it was started with, quoted
// for a shell, with its output folder and --resume.
//
// Folder:        the command begins with `cd`, because both the arguments and the recipe may
//                contain paths relative to the folder in which the job was started.
// Omitted:       --chaos, which would inject the faults again, and the options that --output and
//                --resume replace.
// Thread safety: pure functions.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trireme::cli {

struct Continuation {
  // A setting with another value than the job had.
  struct Change {
    std::string key;
    std::string value;
    bool needs_permission = false;  // requires --allow-changes if there is a checkpoint
  };

  // A checkpoint that the continued job must not use, and the name under which it ignores it.
  struct Move {
    std::filesystem::path from;
    std::filesystem::path to;
  };

  std::string program;             // as it was called
  std::vector<std::string> words;  // after `train`
  std::filesystem::path folder;    // working directory of the call
  std::filesystem::path output;
  bool has_checkpoint = false;  // otherwise it starts at step 0
  std::vector<Move> moves{};

  std::string command(const std::vector<Change>& changes = {}) const;
};

}  // namespace trireme::cli
