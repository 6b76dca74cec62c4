#include "trireme/cluster/launch/report.h"

namespace trireme::cluster::launch {
namespace {

constexpr int kOthersMax = 8;

std::string line_of(std::string_view noun, const RankExit& exit, std::string_view verb) {
  const std::string where = exit.host.empty() ? "" : " on " + exit.host;
  return "trireme: " + std::string(noun) + " " + std::to_string(exit.rank) + where +
         std::string(verb) + describe(exit) + "\n";
}

std::string quote(const output::Tail& tail) {
  if (tail.lines().empty()) return "trireme: it had written nothing\n";
  std::string text = "trireme: its last output:\n";
  for (const std::string& line : tail.lines()) text += "    " + line + "\n";
  return text;
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
  const auto culprit = blame(in_order_seen);
  if (!culprit) return {};
  std::string text;
  int others = 0;
  for (std::size_t i = 0; i < in_order_seen.size(); ++i) {
    const RankExit& exit = in_order_seen[i];
    if (i == *culprit || exit.is_success() || exit.is_ours()) continue;
    if (++others <= kOthersMax) text += line_of(noun, exit, " failed too: ");
  }
  if (others > kOthersMax) {
    text += "trireme: and " + std::to_string(others - kOthersMax) + " more failed\n";
  }
  const RankExit& first = in_order_seen[*culprit];
  return text + line_of(noun, first, " failed: ") + quote(tail_of(first.rank));
}

}  // namespace trireme::cluster::launch
