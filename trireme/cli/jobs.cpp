#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/job_progress.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/remote.h"
#include "trireme/monitor/progress.h"

namespace trireme::cli {
namespace {

std::string age_of(double seconds) {
  const auto whole = static_cast<long>(std::max(seconds, 0.0));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min";
  if (whole < 48 * 3600) return std::to_string(whole / 3600) + " h";
  return std::to_string(whole / 86400) + " d";
}

// Step, loss and speed, in columns.
std::string progress_text(const std::optional<JobProgress>& progress) {
  char text[128];
  if (!progress) {
    std::snprintf(text, sizeof text, "%10s %10s %16s", "-", "-", "-");
    return text;
  }
  const std::string speed = monitor::number_text(progress->speed) + " " + progress->unit + "/s";
  std::snprintf(text, sizeof text, "%10lld %10.4f %16s", static_cast<long long>(progress->step),
                progress->loss, speed.c_str());
  return text;
}

// The process ids of a job, for debugging.
std::string pids_text(const cluster::launch::job::Card& card) {
  return "  pids: launcher " + std::to_string(card.launcher) +
         (card.workers.empty() ? "; those of its ranks are on other hosts"
                               : (card.is_elastic ? "; workers " : "; ranks ") + card.workers);
}

int list_jobs(bool is_verbose) {
  const auto jobs = cluster::launch::job::running_jobs();
  if (jobs.empty()) {
    std::puts("No job is running.");
    return 0;
  }
  std::printf("%-20s %7s %8s  %-8s %10s %10s %16s  %s\n", "JOB", "RANKS", "AGE", "STATE", "STEP",
              "LOSS", "SPEED", "OUTPUT");
  for (const auto& [folder, card] : jobs) {
    // For an elastic job: the number of living workers and the wanted number.
    const std::string ranks = card.is_elastic
                                  ? std::to_string(card.living) + "/" + std::to_string(card.wanted)
                                  : std::to_string(card.ranks);
    const bool is_watched = cluster::launch::job::is_watched(folder);
    const std::string state = is_watched ? card.state : "orphaned";
    std::printf("%-20s %7s %8s  %-8s %s  %s\n", card.name.c_str(), ranks.c_str(),
                age_of(wall_seconds() - card.started).c_str(), state.c_str(),
                progress_text(JobProgress::latest(card.output, card.started)).c_str(),
                card.output.empty() ? folder.c_str() : card.output.c_str());
    if (is_verbose) std::puts(pids_text(card).c_str());
  }
  return 0;
}

}  // namespace

Command jobs_command() {
  Command command("jobs", "List the jobs that run on this host", "trireme jobs");
  const auto is_verbose = std::make_shared<bool>(false);
  command.flag("-v,--verbose", "also the process ids of launchers, ranks and workers", *is_verbose);
  command.action([is_verbose] { return list_jobs(*is_verbose); });
  return command;
}

}  // namespace trireme::cli
