#include "tests/soak/tormentor.h"

#include <poll.h>
#include <signal.h>

#include <cstdio>

namespace trireme::soak {
namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void wait(std::chrono::milliseconds time) {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

}  // namespace

void Tormentor::note(const std::string& what) {
  char when[64];
  std::snprintf(when, sizeof(when), "%.2f s, step %lld: ", seconds(steady_clock().now() - began_),
                static_cast<long long>(book_.last()));
  list_.push_back(when + what);
}

void Tormentor::look(bool is_over) {
  const std::map<int, pid_t> now = subject_.workers();
  if (is_over) return;
  for (const auto& [worker, pid] : alive_) {
    if (!now.contains(worker) && !hurt_.contains(worker)) {
      hurt_.insert(worker);
      note("worker " + std::to_string(worker) + " was gone by itself");
    }
  }
  alive_ = now;
  // Injects no fault before the job has completed its first step.
  if (book_.last() == 0) struck_ = steady_clock().now();
  if (next_ >= draw_.faults.size()) return;
  const Fault& fault = draw_.faults[next_];
  if (book_.last() == 0 || steady_clock().now() - struck_ < fault.after) return;
  if (!strike(fault)) return;
  struck_ = steady_clock().now();
  ++next_;
}

void Tormentor::hurt(int worker, int signal, std::string_view how) {
  ::kill(alive_.at(worker), signal);
  hurt_.insert(worker);
  note(std::string(how) + " worker " + std::to_string(worker));
}

// Returns whether the fault could be injected now.
bool Tormentor::strike(const Fault& fault) {
  if (fault.kind == FaultKind::Coordinator) return strike_coordinator();
  std::vector<int> members, coming;
  for (const auto& [worker, pid] : alive_) {
    if (hurt_.contains(worker)) continue;
    (book_.has_begun(worker) ? members : coming).push_back(worker);
  }
  if (fault.kind != FaultKind::KillComing) return strike_members(fault, members);
  // There may be no joining worker for a long time; the fault is then skipped.
  if (!coming.empty() && !members.empty()) {
    hurt(coming[fault.victim % coming.size()], SIGKILL, name_of(fault.kind));
  }
  return true;
}

bool Tormentor::strike_members(const Fault& fault, const std::vector<int>& members) {
  const bool is_double = fault.kind == FaultKind::KillTwo || fault.kind == FaultKind::KillTwice;
  if (members.size() < (is_double ? 3U : 2U)) return false;
  const std::size_t first = fault.victim % members.size();
  const std::size_t second =
      (first + 1 + fault.victim / 128 % (members.size() - 1)) % members.size();
  if (fault.kind == FaultKind::Pause) {
    const pid_t pid = alive_.at(members[first]);
    ::kill(pid, SIGSTOP);
    wait(fault.gap);
    ::kill(pid, SIGCONT);
    note("pause worker " + std::to_string(members[first]));
    return true;
  }
  hurt(members[first], fault.kind == FaultKind::Freeze ? SIGSTOP : SIGKILL, name_of(fault.kind));
  if (fault.kind == FaultKind::KillTwice) wait(fault.gap);
  if (is_double) hurt(members[second], SIGKILL, name_of(fault.kind));
  return true;
}

bool Tormentor::strike_coordinator() {
  const auto pid = subject_.coordinator();
  if (!pid) return false;
  ::kill(*pid, SIGKILL);
  note("kill coordinator");
  return true;
}

}  // namespace trireme::soak
