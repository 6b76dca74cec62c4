// RankExit is how a rank ended; blame() selects the rank that caused the failure of a job.
//
// Selection:     when one rank dies, the others often fail because of it, and may be seen dead
//                first, since the kernel reports a death only after it has released the memory. So
//                a death by a signal has more weight than an exit code or an abort, which may be
//                the reaction to a peer's death. The exit code for "I lost a peer" has the least
//                weight. How a rank ended after the launcher asked it to end has no weight. Among
//                equals the first one seen counts. If all failed ranks only lost a peer, that peer
//                may have been asked to end while it was failing; then that peer counts.
// Thread safety: values and pure functions.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/cluster/launch/host/oom.h"

namespace trireme::cluster::launch {

// Exit code of a worker that failed only because a peer did (EX_TEMPFAIL).
inline constexpr int kExitPeerLost = 75;
// Exit code of a worker of an elastic job that leaves while the others continue: fewer workers are
// wanted, or it was asked to end before it was admitted.
inline constexpr int kExitDismissed = 76;
// Exit code of a worker whose training diverged: a replacement would diverge too.
inline constexpr int kExitDiverged = 77;
// Exit code of a worker that failed for a reason which a replacement would meet again, such as a
// damaged input file or a full disk.
inline constexpr int kExitFinal = 78;
// Exit code of a worker whose recipe, build or data differ from those of the other workers: a
// replacement would be refused too. The others of an elastic job continue without it.
inline constexpr int kExitRefused = 79;
// A rank that fails writes the reason to standard error, each line with this prefix. A launcher
// shows it in its report, and in an elastic job that continues where it reports the loss.
inline constexpr std::string_view kFailureMark = "trireme-failure: ";
// Wrong usage: nothing was started.
inline constexpr int kExitUsage = 2;

struct RankExit {
  int rank = 0;
  int status = 0;       // as returned by wait(2)
  int signal_sent = 0;  // the last signal that asked it to end while it was still healthy
  host::OomKill oom = host::OomKill::No;
  std::string not_started{};  // why the program could not be executed; empty: it was executed
  std::string host{};         // where it ran, in a job on several hosts
  std::string lost{};         // why its exit status is unknown: its host was lost
  std::string killed{};       // why the launcher killed it alone, while the job continues

  bool is_success() const noexcept;
  bool is_dismissed() const noexcept;
  // It ended because the launcher asked it to.
  bool is_ours() const noexcept;
};

// 0 ... 255; 128 plus the signal number for a signal.
int exit_code_of(const RankExit& exit) noexcept;

// "exit code 3", "killed by signal 11 (segmentation fault)", ...
std::string describe(const RankExit& exit);

// Index of the exit to blame; nullopt if no rank failed by itself.
std::optional<std::size_t> blame(std::span<const RankExit> in_order_seen);

}  // namespace trireme::cluster::launch
