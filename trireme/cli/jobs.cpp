#include <algorithm>
#include <cstdio>

#include "trireme/base/clock.h"
#include "trireme/cli/commands.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli {
namespace {

std::string age_of(double seconds) {
  const auto whole = static_cast<long>(std::max(seconds, 0.0));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min";
  if (whole < 48 * 3600) return std::to_string(whole / 3600) + " h";
  return std::to_string(whole / 86400) + " d";
}

int list_jobs() {
  const auto jobs = cluster::launch::job::running_jobs();
  if (jobs.empty()) {
    std::puts("No job is running.");
    return 0;
  }
  std::printf("%-20s %7s %8s  %-8s  %s\n", "JOB", "RANKS", "AGE", "STATE", "FOLDER");
  for (const auto& [folder, card] : jobs) {
    // An elastic job: those who live, and how many should.
    const std::string ranks = card.is_elastic
                                  ? std::to_string(card.living) + "/" + std::to_string(card.wanted)
                                  : std::to_string(card.ranks);
    const bool is_watched = cluster::launch::job::is_watched(folder);
    const std::string state = is_watched ? card.state : "orphaned";
    std::printf("%-20s %7s %8s  %-8s  %s\n", card.name.c_str(), ranks.c_str(),
                age_of(wall_seconds() - card.started).c_str(), state.c_str(), folder.c_str());
  }
  return 0;
}

}  // namespace

Command jobs_command() {
  Command command("jobs", "List the jobs that run on this host", "trireme jobs");
  command.action(list_jobs);
  return command;
}

}  // namespace trireme::cli
