#include "trireme/cluster/launch/rendezvous/coordinator_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/job/coordinator.h"
#include "trireme/cluster/launch/rank/spawn.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr Duration kWindow = 1min;
constexpr const char* kWords = "coordinator.err";
constexpr auto kTakeOverTime = 5s;
constexpr int kPause = 2;  // milliseconds

}  // namespace

void CoordinatorProcess::start() {
  const TimePoint now = steady_clock().now();
  while (!starts_.empty() && now - starts_.front() > kWindow) starts_.pop_front();
  if (starts_.size() >= kStartsMax) {
    throw Error(ErrorCode::Exhausted, "the coordinator died " + std::to_string(starts_.size()) +
                                          " times within a minute" + last_words());
  }
  starts_.push_back(now);
  const std::filesystem::path words = options_.folder / kWords;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  const Descriptor error(open(words.c_str(), kFlags, 0600));
  if (!error) throw system_error("cannot write " + words.string(), errno);
  const double seconds = std::chrono::duration<double>(options_.orphan_timeout).count();
  std::vector<std::string> arguments{"trireme", "coordinate", "--orphan-timeout",
                                     std::to_string(seconds)};
  if (!options_.listen.empty()) arguments.insert(arguments.end(), {"--listen", options_.listen});
  arguments.push_back(options_.folder.string());
  pid_ = spawn({.rank = -1,
                .program = options_.program,
                .arguments = std::move(arguments),
                .environment = own_environment(),
                .processors = {},
                .output = error.get(),
                .error = error.get(),
                .trouble = error.get(),
                .mask = options_.mask,
                .files_max = std::nullopt,
                .dies_with_us = false});
  note_start();
}

void CoordinatorProcess::adopt() {
  if (const auto living = job::coordinator_of(options_.folder)) {
    pid_ = *living;
    note_start();
  } else {
    start();
  }
}

void CoordinatorProcess::note_start() {
  const auto process = host::find_process(pid_);
  start_ = process ? process->start : 0;
}

bool CoordinatorProcess::is_there() const {
  const auto process = host::find_process(pid_);
  if (!process || process->start != start_) return false;
  return !process->is_zombie || process->parent == getpid();
}

void CoordinatorProcess::reset() {
  const Descriptor right = job::take_over(options_.folder, Deadline::after(kTakeOverTime));
  std::error_code error;
  std::filesystem::remove(options_.folder / "store.log", error);
}

std::string CoordinatorProcess::address(Deadline deadline) const {
  while (true) {
    if (const auto text = job::store_address_of(options_.folder)) return *text;
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "the coordinator does not start listening" + last_words());
    }
    poll(nullptr, 0, kPause);
  }
}

std::string CoordinatorProcess::last_words() const {
  std::ifstream file(options_.folder / kWords);
  std::string last;
  for (std::string line; std::getline(file, line);) last = line;
  return last.empty() ? "" : ": " + last;
}

}  // namespace trireme::cluster::launch
