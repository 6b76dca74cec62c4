#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/event_line.h"
#include "trireme/cli/job_progress.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli {
namespace {

constexpr auto kProgressEvery = std::chrono::seconds(1);

// Prints the job's events, and a line whenever its progress changes. The events that happened
// before come first: a progress line is newer than they are.
class JobView {
 public:
  JobView(cluster::launch::job::Card card, bool is_json)
      : card_(std::move(card)), is_json_(is_json) {}

  bool on_event(std::string_view event) {
    const bool is_printed = print(event);
    if (has_been_quiet_) look_at_progress();
    return is_printed;
  }

  void on_quiet() {
    has_been_quiet_ = true;
    look_at_progress();
  }

 private:
  bool print(std::string_view event) const {
    std::puts((is_json_ ? std::string(event) : event_line(event)).c_str());
    return std::fflush(stdout) == 0;
  }

  void look_at_progress() {
    if (steady_clock().now() < next_look_) return;
    next_look_ = steady_clock().now() + kProgressEvery;
    const auto progress = JobProgress::latest(card_.output, card_.started);
    if (progress && std::exchange(step_, progress->step) != progress->step) {
      print(progress->to_json());
    }
  }

  cluster::launch::job::Card card_;
  bool is_json_;
  bool has_been_quiet_ = false;
  std::int64_t step_ = -1;
  TimePoint next_look_{};
};

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
  if (!is_json) std::puts(header_of(job.card).c_str());
  JobView view(job.card, is_json);
  cluster::launch::job::watch_job(
      job, [&](std::string_view event) { return view.on_event(event); }, [&] { view.on_quiet(); });
  return 0;
}

}  // namespace

Command watch_command() {
  Command command("watch", "Follow the events and the progress of a running job",
                  "trireme watch brisk-heron");
  command.example("trireme watch brisk-heron --json");
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
