// What a soak does to one job, drawn from its seed: a function of nothing else, so that a job that
// failed can be hurt in the same way again.
//
// Two sources: workers hurt themselves at a moment of a step (chaos), and somebody outside sends
// signals at moments that fall where they fall.
//
// Threads: pure.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cli::soak {

enum class FaultKind {
  Kill,         // kill -9 of one member
  KillTwo,      // of two at once
  KillTwice,    // of a second while the first death is being got over
  KillComing,   // of one that was started and is not a member yet
  Freeze,       // SIGSTOP, until it is killed
  Pause,        // SIGSTOP, and SIGCONT before anybody minds
  Coordinator,  // kill -9 of the coordinator
};
std::string_view name_of(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::Kill;
  std::chrono::milliseconds after{};  // the one before it
  std::chrono::milliseconds gap{};    // between the two of KillTwice, or of Pause
  std::uint32_t victim = 0;           // the n-th of those there are, modulo how many
};

struct Draw {
  std::string kind;   // sync.kind
  std::string chaos;  // as --chaos takes it
  std::vector<Fault> faults;
};

struct DrawOptions {
  std::uint64_t seed = 0;
  int job = 0;                     // of the soak, from 0
  std::int64_t steps = 0;          // of the job
  int workers = 4;                 // it begins with
  std::vector<std::string> kinds;  // one is taken
};
Draw draw(const DrawOptions& options);

}  // namespace trireme::cli::soak
