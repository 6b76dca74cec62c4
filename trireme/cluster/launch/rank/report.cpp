#include "trireme/cluster/launch/rank/report.h"

#include <algorithm>

namespace trireme::cluster::launch {
namespace {

constexpr int kOthersMax = 8;

std::string name_of(std::string_view noun, const RankExit& exit) {
  const std::string where = exit.host.empty() ? "" : " on " + exit.host;
  return std::string(noun) + " " + std::to_string(exit.rank) + where;
}

// The failure that the rank reported, otherwise how it ended.
std::string line_of(std::string_view noun, const RankExit& exit, std::string_view verb,
                    const output::Tail& tail) {
  return "trireme: " + name_of(noun, exit) + std::string(verb) +
         (tail.failure().empty() ? describe(exit) : tail.failure()) + "\n";
}

std::string quote(const output::Tail& tail) {
  if (tail.lines().empty()) return "trireme: it had printed nothing before\n";
  std::string text = "trireme: its last output:\n";
  for (const std::string& line : tail.lines()) text += "    " + line + "\n";
  return text;
}

std::string blame_text(std::string_view noun, const RankExit& exit, const output::Tail& tail) {
  const std::string line = line_of(noun, exit, " failed: ", tail);
  if (tail.failure().empty()) return line + quote(tail);
  // A user error is the same on every rank of a host; and some failures already name a rank, such
  // as the rank whose part of a checkpoint is missing.
  const bool is_mistake = exit_code_of(exit) == kExitUsage && exit.host.empty();
  const bool names_rank = tail.failure().starts_with(std::string(noun) + " ");
  const bool stands_alone = is_mistake || names_rank;
  return stands_alone ? "trireme: " + tail.failure() + "\n" : line;
}

// Whether `other` failed for the reason for which `culprit` did. With one of these exit codes every
// rank meets that reason, though it may say so in other words, such as with its own file's name.
bool is_same_failure(int culprit_code, const output::Tail& culprit, int other_code,
                     const output::Tail& other) {
  if (!culprit.failure().empty() && culprit.failure() == other.failure()) return true;
  return other_code == culprit_code &&
         (culprit_code == kExitUsage || culprit_code == kExitDiverged ||
          culprit_code == kExitFinal);
}

}  // namespace

std::string plain_number(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string report_failure(std::span<const RankExit> in_order_seen,
                           const std::function<const output::Tail&(int rank)>& tail_of,
                           std::string_view noun) {
  auto culprit = blame(in_order_seen);
  if (!culprit) return {};
  // Where several failed in the same way, the one that wrote why is the one to name.
  const int code = exit_code_of(in_order_seen[*culprit]);
  const auto has_reason = [&](const RankExit& exit) {
    return exit_code_of(exit) == code && !exit.is_ours() && !tail_of(exit.rank).failure().empty();
  };
  if (!has_reason(in_order_seen[*culprit])) {
    const auto found = std::ranges::find_if(in_order_seen, has_reason);
    if (found != in_order_seen.end()) {
      culprit = static_cast<std::size_t>(found - in_order_seen.begin());
    }
  }
  std::string text;
  const RankExit& first = in_order_seen[*culprit];
  const output::Tail& tail = tail_of(first.rank);
  int others = 0;
  for (std::size_t i = 0; i < in_order_seen.size(); ++i) {
    const RankExit& exit = in_order_seen[i];
    if (i == *culprit || exit.is_success() || exit.is_ours()) continue;
    const int other = exit_code_of(exit);
    const output::Tail& others_tail = tail_of(exit.rank);
    if (other == kExitPeerLost || is_same_failure(code, tail, other, others_tail)) continue;
    if (++others <= kOthersMax) text += line_of(noun, exit, " failed too: ", others_tail);
  }
  if (others > kOthersMax) {
    text += "trireme: and " + std::to_string(others - kOthersMax) + " more failed\n";
  }
  return text + blame_text(noun, first, tail);
}

}  // namespace trireme::cluster::launch
