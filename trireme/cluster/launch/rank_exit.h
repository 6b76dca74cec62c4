// RankExit is how a rank ended; blame() picks the one that a failed job is named for.
//
// Meaning: when one rank dies the others often fail of it, and may be seen dead first, since the
//          kernel reports a death only after it has torn the memory down. So a death by a signal
//          weighs more than an exit code or an abort, which may be a peer's reaction; the exit
//          code by which a rank says "I lost a peer" weighs least; how a rank ended after we
//          asked it to weighs nothing. Among equals the first seen counts.
// Threads: values and pure functions.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "trireme/cluster/launch/host/oom.h"

namespace trireme::cluster::launch {

// A worker that only failed because a peer did exits with this code (EX_TEMPFAIL).
inline constexpr int kExitPeerLost = 75;
// A worker of an elastic job that leaves while the others train on exits with this code: fewer are
// wanted, or it was asked to end before it was taken in.
inline constexpr int kExitDismissed = 76;
// Wrong usage: nothing was started.
inline constexpr int kExitUsage = 2;

struct RankExit {
  int rank = 0;
  int status = 0;       // as wait(2) gives it
  int signal_sent = 0;  // the last by which we asked it to end, while it was still well
  host::OomKill oom = host::OomKill::No;
  std::string not_started{};  // why the program could not be executed; empty: it was
  std::string host{};         // where it ran, in a job on several hosts
  std::string lost{};         // why nobody knows how it ended: its host was lost

  bool is_success() const noexcept;
  bool is_dismissed() const noexcept;
  // Ended as we asked it to, rather than by itself.
  bool is_ours() const noexcept;
};

// 0 ... 255; 128 plus the number for a signal.
int exit_code_of(const RankExit& exit) noexcept;

// "exit code 3", "killed by signal 11 (segmentation fault)", ...
std::string describe(const RankExit& exit);

// Index of the exit to blame; nothing when none failed by itself.
std::optional<std::size_t> blame(std::span<const RankExit> in_order_seen);

}  // namespace trireme::cluster::launch
