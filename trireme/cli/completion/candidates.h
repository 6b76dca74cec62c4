// What can stand at the end of an unfinished command line: the words that begin with what was
// typed, each with a line of help, and the kind of files that the shell should offer besides.
//
// Placeholders:  values are completed by their placeholder (trireme/cli/syntax.h):
//
//                auto|none                these words; names in upper case, such as N, are left out
//                JOB                      names of running jobs
//                RECIPE                   files that end in .toml
//                FILE PATH INPUT          files
//                DIR FOLDER               folders
//                PROGRAM                  programs
//                KEY                      settings, "train.steps"
//                key=value                settings and their values, "sync.kind=zero1"
//                STRATEGY                 the values of sync.kind
//
//                "[RECIPE] key=value" is either of the two, "KEY,KEY" a list. All others are left
//                to the user.
// Thread safety: pure functions, apart from `sources`.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config/schema.h"
#include "trireme/cli/syntax.h"

namespace trireme::cli::completion {

struct Candidate {
  std::string word;
  std::string help = {};
};

enum class Files { None, Any, Folders, Recipes, Programs };

struct Candidates {
  std::vector<Candidate> words = {};
  Files files = Files::None;
};

// Read only if they are needed.
struct CandidateSources {
  std::function<std::vector<Candidate>()> jobs;
  // The settings of the worker of this name; empty: the built-in one.
  std::function<config::Schema(const std::string& worker)> schema;
};

// `words` are those after the program's name; the last one is to be completed and may be empty.
Candidates candidates(const std::vector<Syntax>& commands, const std::vector<std::string>& words,
                      const CandidateSources& sources);

// Settings that begin with `typed`. Without a dot in it the sections are offered, "train.", then
// their settings, "train.steps=", then the values of a setting that has a closed set of them.
std::vector<Candidate> setting_candidates(const config::Schema& schema, std::string_view typed);

}  // namespace trireme::cli::completion
