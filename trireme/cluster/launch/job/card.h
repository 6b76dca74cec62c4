// Card is what a job says about itself to whoever lists jobs: card.json in its folder.
//
// Failure: load() gives nothing for a card that is missing, cut off or not one of ours: the job
//          may be ending while we look.
// Threads: values; save() replaces the file at once.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace trireme::cluster::launch::job {

struct Card {
  std::string name;
  int ranks = 0;  // how many it has, or began with if it is elastic
  bool is_elastic = false;
  int living = 0;       // of an elastic job: how many workers there are,
  int wanted = 0;       // and should be
  std::string state;    // "starting", "running", "ending"
  std::string command;  // program and arguments, for people
  double started = 0;   // seconds since 1970
  pid_t front = 0;      // the process that the user started
  pid_t launcher = 0;
  std::string output;  // where events, metrics and logs are kept; empty: nowhere

  // Never forced to disk: a machine that crashed has no jobs.
  void save(const std::filesystem::path& path) const;
  static std::optional<Card> load(const std::filesystem::path& path);
};

}  // namespace trireme::cluster::launch::job
