#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "trireme/cli/commands.h"
#include "trireme/cli/event_line.h"
#include "trireme/cli/job_progress.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli {
namespace {

constexpr auto kProgressEvery = std::chrono::seconds(1);

using Print = std::function<bool(std::string_view line)>;

// Prints a line whenever the job's progress changes.
void watch_progress(const cluster::launch::job::Card& card, const Print& print,
                    const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any ended;
  std::int64_t step = -1;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const auto progress = JobProgress::latest(card.output, card.started);
    if (progress && std::exchange(step, progress->step) != progress->step) {
      print(progress->to_json());
    }
    ended.wait_for(lock, stop, kProgressEvery, [] { return false; });
  }
}

std::string header_of(const cluster::launch::job::Card& card) {
  std::string text = card.name + ": " + card.command;
  if (!card.workers.empty()) {
    text += std::string("\npids of ") + (card.is_elastic ? "workers: " : "ranks: ") + card.workers;
  }
  if (!card.output.empty()) text += "\noutput: " + card.output;
  return text;
}

int watch(const std::string& name, bool is_json) {
  const auto job = cluster::launch::job::find_job(name);
  std::mutex mutex;
  const Print print = [&](std::string_view event) {
    const std::string line = is_json ? std::string(event) : event_line(event);
    const std::lock_guard lock(mutex);
    std::puts(line.c_str());
    return std::fflush(stdout) == 0;
  };
  if (!is_json) std::puts(header_of(job.card).c_str());
  const std::jthread progress(
      [&](const std::stop_token& stop) { watch_progress(job.card, print, stop); });
  cluster::launch::job::watch_job(job, print);
  return 0;
}

}  // namespace

Command watch_command() {
  Command command("watch", "Follow the events and the progress of a running job, a line each",
                  "trireme watch brisk-heron");
  const auto name = std::make_shared<std::string>();
  command.argument("JOB", "the job's name, as `trireme jobs` lists it", [name](const auto& text) {
    *name = text;
    return std::string();
  });
  const auto is_json = std::make_shared<bool>(false);
  command.flag("--json", "a JSON object per line", *is_json);
  command.action([name, is_json] { return watch(*name, *is_json); });
  return command;
}

}  // namespace trireme::cli
