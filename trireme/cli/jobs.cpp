#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
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

std::string state_of(const cluster::launch::job::RunningJob& job) {
  return cluster::launch::job::is_watched(job.folder) ? job.card.state : "orphaned";
}

std::string output_of(const cluster::launch::job::RunningJob& job) {
  return job.card.output.empty() ? job.folder.string() : job.card.output;
}

nlohmann::ordered_json json_of(const cluster::launch::job::RunningJob& job) {
  const auto& card = job.card;
  nlohmann::ordered_json json{{"job", card.name},        {"state", state_of(job)},
                              {"ranks", card.ranks},     {"is_elastic", card.is_elastic},
                              {"started", card.started}, {"output", output_of(job)},
                              {"command", card.command}, {"launcher", card.launcher}};
  if (card.is_elastic) {
    json["living"] = card.living;
    json["wanted"] = card.wanted;
  }
  if (const auto progress = JobProgress::latest(card.output, card.started)) {
    json["step"] = progress->step;
    json["loss"] = progress->loss;  // null if it is not finite
    json[progress->unit + "_per_second"] = progress->speed;
  }
  return json;
}

int print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& job : cluster::launch::job::running_jobs()) all.push_back(json_of(job));
  std::puts(all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  return 0;
}

int list_jobs(bool is_verbose) {
  const auto jobs = cluster::launch::job::running_jobs();
  if (jobs.empty()) {
    std::puts("No job is running.");
    return 0;
  }
  std::printf("%-20s %7s %8s  %-8s %10s %10s %16s  %s\n", "JOB", "RANKS", "AGE", "STATE", "STEP",
              "LOSS", "SPEED", "OUTPUT");
  for (const auto& job : jobs) {
    const auto& card = job.card;
    // For an elastic job: the number of living workers and the wanted number.
    const std::string ranks = card.is_elastic
                                  ? std::to_string(card.living) + "/" + std::to_string(card.wanted)
                                  : std::to_string(card.ranks);
    std::printf("%-20s %7s %8s  %-8s %s  %s\n", card.name.c_str(), ranks.c_str(),
                age_of(wall_seconds() - card.started).c_str(), state_of(job).c_str(),
                progress_text(JobProgress::latest(card.output, card.started)).c_str(),
                output_of(job).c_str());
    if (is_verbose) std::puts(pids_text(card).c_str());
  }
  return 0;
}

}  // namespace

Command jobs_command() {
  Command command("jobs", "List the jobs that run on this host", "trireme jobs");
  command.example("trireme jobs --json");
  const auto is_verbose = std::make_shared<bool>(false);
  const auto is_json = std::make_shared<bool>(false);
  command.flag("-v,--verbose", "also the process ids of launchers, ranks and workers", *is_verbose);
  command.flag("--json", "a JSON array with an object for each job", *is_json);
  command.action(
      [is_verbose, is_json] { return *is_json ? print_json() : list_jobs(*is_verbose); });
  return command;
}

}  // namespace trireme::cli
