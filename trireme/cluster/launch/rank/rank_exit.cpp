#include "trireme/cluster/launch/rank/rank_exit.h"

#include <signal.h>
#include <sys/wait.h>

#include "trireme/cluster/launch/host/signals.h"

namespace trireme::cluster::launch {
namespace {

constexpr int kOnlyLostAPeer = 1;

// 0: never to blame.
int weight_of(const RankExit& exit) {
  if (exit.is_success() || exit.is_ours() || exit.is_dismissed()) return 0;
  if (!exit.not_started.empty()) return 4;
  if (WIFSIGNALED(exit.status)) return WTERMSIG(exit.status) == SIGABRT ? 2 : 3;
  return WEXITSTATUS(exit.status) == kExitPeerLost ? kOnlyLostAPeer : 2;
}

// Whether a rank that was asked to end failed instead.
bool has_own_failure(const RankExit& exit) {
  if (!exit.is_ours() || exit.is_success() || exit.is_dismissed()) return false;
  if (WIFSIGNALED(exit.status)) {
    return WTERMSIG(exit.status) != exit.signal_sent && WTERMSIG(exit.status) != SIGTERM;
  }
  const int code = WEXITSTATUS(exit.status);
  return code != kExitPeerLost && code < 128;
}

std::string describe_kill(host::OomKill oom) {
  switch (oom) {
    case host::OomKill::Proven:
      return "killed by the kernel's out-of-memory killer";
    case host::OomKill::Likely:
      return "killed by signal 9 (probably the kernel's out-of-memory killer, which killed a "
             "process on this host meanwhile)";
    case host::OomKill::No:
      break;
  }
  return "killed by signal 9 (kill -9 or another process)";
}

std::string describe_code(int code, host::OomKill oom) {
  std::string text = "exit code " + std::to_string(code);
  if (code == kExitPeerLost) return text + " (it lost a peer)";
  if (code == kExitDismissed) return "left on request";
  if (code == kExitDiverged) return text + " (its training diverged)";
  if (code == kExitFinal) return text + " (for a reason that a replacement would meet, too)";
  if (code == kExitRefused) return text + " (it differs from the other workers)";
  if (oom != host::OomKill::No) {
    return text + " (the kernel's out-of-memory killer killed a process it had started)";
  }
  // A shell reports the death of its command this way.
  if (code > 128 && code < 128 + SIGRTMIN) {
    text += " (what it ran was killed by " + host::name_of(code - 128) + ")";
  }
  return text;
}

}  // namespace

bool RankExit::is_dismissed() const noexcept {
  return WIFEXITED(status) && WEXITSTATUS(status) == kExitDismissed;
}

bool RankExit::is_success() const noexcept {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool RankExit::is_ours() const noexcept {
  if (signal_sent == 0) return false;
  // A rank that died of a SIGKILL that the launcher did not send was killed by another process.
  const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return !is_killed || signal_sent == SIGKILL;
}

int exit_code_of(const RankExit& exit) noexcept {
  if (WIFSIGNALED(exit.status)) return 128 + WTERMSIG(exit.status);
  return WEXITSTATUS(exit.status);
}

std::string describe(const RankExit& exit) {
  if (!exit.not_started.empty()) return exit.not_started;
  if (!exit.lost.empty()) return "its host was lost: " + exit.lost;
  if (!exit.killed.empty()) return exit.killed;
  if (!WIFSIGNALED(exit.status)) return describe_code(WEXITSTATUS(exit.status), exit.oom);
  const int signal = WTERMSIG(exit.status);
  if (signal == SIGKILL) return describe_kill(exit.oom);
  std::string_view meaning = host::meaning_of(signal);
  const std::string name = host::name_of(signal);
  if (meaning.empty()) meaning = name;
  std::string text = "killed by signal " + std::to_string(signal);
  return text.append(" (").append(meaning).append(")");
}

std::optional<std::size_t> blame(std::span<const RankExit> in_order_seen) {
  std::optional<std::size_t> worst;
  int weight = 0;
  for (std::size_t i = 0; i < in_order_seen.size(); ++i) {
    if (weight_of(in_order_seen[i]) > weight) {
      worst = i;
      weight = weight_of(in_order_seen[i]);
    }
  }
  if (weight != kOnlyLostAPeer) return worst;
  for (std::size_t i = 0; i < in_order_seen.size(); ++i) {
    if (has_own_failure(in_order_seen[i])) return i;
  }
  return worst;
}

}  // namespace trireme::cluster::launch
