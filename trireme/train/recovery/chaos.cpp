#include "trireme/train/recovery/chaos.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/checkpoint/format/part.h"
#include "trireme/cluster/membership/membership.h"
#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/train/step.h"

namespace trireme::train {
namespace {

// The fault points of a moment. Shared memory and connections between hosts have different ones.
bool is_point_of(std::string_view moment, std::string_view point) {
  static const std::multimap<std::string_view, std::string_view> all{
      {"forward", kForward.name},
      {"backward", kBackward.name},
      {"reduce", kReduce.name},
      {"collective", comm::shm::kHalfway.name},
      {"collective", comm::kMessageHalfway.name},
      {"prepared", parallel::kPrepared.name},
      {"update", parallel::data::kUpdating.name},
      {"checkpoint", checkpoint::format::kPartHalfWritten.name},
      {"recovery", cluster::membership::kEpochDecided.name}};
  const auto [begin, end] = all.equal_range(moment);
  TRIREME_CHECK(begin != end, "no point of a step is called ", moment);
  return std::any_of(begin, end, [&](const auto& entry) { return entry.second == point; });
}

double seconds_worked() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void sleep_through(Duration length) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(length);
  const timespec time{seconds.count(), (length - seconds).count()};
  ::nanosleep(&time, nullptr);
}

// Calls only functions that are safe in the child of a process with threads.
bool is_stopped(const char* stat_file) {
  char text[512];
  const int file = ::open(stat_file, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;  // the process no longer exists
  const ssize_t size = ::read(file, text, sizeof(text));
  ::close(file);
  // The format is "123 (name) T ...", where the name may contain any characters.
  for (ssize_t i = size - 3; i > 0; --i) {
    if (text[i] == ')') return text[i + 2] == 'T';
  }
  return false;
}

// A stopped process cannot wake itself, so a child wakes it and exits. The child waits until the
// process is stopped: a SIGCONT before that would have no effect, and the process would never wake.
void stop_for(Duration length) {
  const pid_t self = ::getpid();
  const std::string stat_file = "/proc/" + std::to_string(self) + "/stat";
  const pid_t child = length.count() > 0 ? ::fork() : 0;
  if (length.count() > 0 && child == 0) {
    constexpr int kLooksMax = 100'000;  // ten seconds, in case the process is never stopped
    for (int i = 0; i < kLooksMax && !is_stopped(stat_file.c_str()); ++i) {
      sleep_through(std::chrono::microseconds(100));
    }
    sleep_through(length);
    ::kill(self, SIGCONT);
    ::_exit(0);
  }
  ::kill(self, SIGSTOP);
  if (child > 0) ::waitpid(child, nullptr, 0);
}

// Hangs this thread forever. The process stays alive and sends heartbeats.
void hang_for(Duration length) {
  const bool is_for_ever = length.count() == 0;
  do {
    sleep_through(is_for_ever ? Duration(std::chrono::hours(1)) : length);
  } while (is_for_ever);
}

}  // namespace

Chaos::Chaos(int worker, std::vector<InjectedFault> all) {
  for (InjectedFault& one : all) {
    if (one.worker == worker) mine_.push_back(std::move(one));
  }
}

std::unique_ptr<Chaos> Chaos::from_environment() {
  const char* text = std::getenv("TRIREME_CHAOS");
  const char* worker = std::getenv("TRIREME_RANK");
  if (text == nullptr || *text == 0) return nullptr;
  return std::make_unique<Chaos>(worker == nullptr ? 0 : std::atoi(worker), parse_chaos(text));
}

void Chaos::begin_step(std::int64_t step) {
  slow_down();
  step_ = step;
  began_ = seconds_worked();
}

// Waits until the work of this thread for the last step has taken a few times as long. Time spent
// waiting for other ranks does not count, since two slow workers would slow each other down
// endlessly.
void Chaos::slow_down() {
  if (step_ < 0) return;
  for (const InjectedFault& one : mine_) {
    if (one.kind != InjectedFault::Kind::Slow || one.factor <= 1) continue;
    std::this_thread::sleep_for(
        std::chrono::duration<double>((seconds_worked() - began_) * (one.factor - 1)));
  }
}

void Chaos::reached(FaultPoint point, int) {
  for (InjectedFault& one : mine_) {
    if (one.kind == InjectedFault::Kind::Slow || !is_point_of(one.moment, point.name)) continue;
    {
      const std::lock_guard lock(mutex_);
      if (step_ < one.step || one.step < 0) continue;
      one.step = -1;
    }
    if (one.kind == InjectedFault::Kind::Kill) ::kill(::getpid(), SIGKILL);
    if (one.kind == InjectedFault::Kind::Stop) stop_for(one.length);
    if (one.kind == InjectedFault::Kind::Hang) hang_for(one.length);
    if (one.kind == InjectedFault::Kind::Doubt && doubt_) doubt_(one.whom);
  }
}

}  // namespace trireme::train
