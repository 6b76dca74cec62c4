// Card is the description of a job that `trireme jobs` shows: card.json in its folder.
//
// Errors:        load() returns nothing for a card that is missing, truncated or malformed: the job
//                may be ending at that moment.
// Thread safety: values; save() replaces the file atomically.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace trireme::cluster::launch::job {

struct Card {
  std::string name;
  int ranks = 0;  // number of ranks; of an elastic job, the number it started with
  bool is_elastic = false;
  int living = 0;       // elastic jobs: number of live workers
  int wanted = 0;       // elastic jobs: wanted number of workers
  std::string state;    // "starting", "running", "ending"
  std::string command;  // program and arguments, for display
  double started = 0;   // seconds since 1970
  pid_t front = 0;      // the process that the user started
  pid_t launcher = 0;
  std::string workers{};  // "0=4711 1=4712": live ranks or workers on this host, and their pids
  std::string output;     // where metrics and results are kept; empty: nowhere

  // Not synced to disk: after a crash of the machine there are no running jobs.
  void save(const std::filesystem::path& path) const;
  static std::optional<Card> load(const std::filesystem::path& path);
};

}  // namespace trireme::cluster::launch::job
