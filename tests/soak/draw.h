// Draws the faults that a soak test injects into one job. The result is a function of the seed and
// the options only, so that a failed job can be repeated with the same faults.
//
// Faults come from two sources: workers inject faults into themselves at a given point of a step
// (chaos), and the soak test sends signals from outside at arbitrary times.
//
// Thread safety: pure functions.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::soak {

enum class FaultKind {
  Kill,         // SIGKILL of one member
  KillTwo,      // SIGKILL of two members at the same time
  KillTwice,    // SIGKILL of a second member during recovery from the first
  KillComing,   // SIGKILL of a worker that has started but has not joined yet
  Freeze,       // SIGSTOP, until it is killed
  Pause,        // SIGSTOP, and SIGCONT before its heartbeat expires
  Coordinator,  // SIGKILL of the coordinator
};
std::string_view name_of(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::Kill;
  std::chrono::milliseconds after{};  // since the previous fault
  std::chrono::milliseconds gap{};    // between the two signals of KillTwice or Pause
  std::uint32_t victim = 0;           // index among the candidates, modulo their number
};

struct Draw {
  std::string kind;   // sync.kind
  std::string chaos;  // in the syntax of --chaos
  std::vector<Fault> faults;
};

struct DrawOptions {
  std::uint64_t seed = 0;
  int job = 0;                     // index in the soak test, from 0
  std::int64_t steps = 0;          // of the job
  int workers = 4;                 // initial number
  std::vector<std::string> kinds;  // the job uses one of them
};
Draw draw(const DrawOptions& options);

}  // namespace trireme::soak
