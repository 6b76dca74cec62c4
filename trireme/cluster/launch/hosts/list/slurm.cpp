#include "trireme/cluster/launch/hosts/list/slurm.h"

#include <charconv>
#include <optional>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

constexpr int kNodesMax = 4096;

[[noreturn]] void refuse_list(std::string_view list) {
  throw Error(ErrorCode::InvalidInput, "'" + std::string(list) + "' is no list of Slurm's");
}

int number_in(std::string_view list, std::string_view digits) {
  int number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) refuse_list(list);
  return number;
}

// Splits at commas outside brackets.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth < 0 || depth > 1 || (at == list.size() && depth != 0)) refuse_list(list);
    if (c != ',' || depth != 0) continue;
    if (at == begin) refuse_list(list);
    parts.push_back(list.substr(begin, at - begin));
    begin = at + 1;
  }
  return parts;
}

// "07-09" becomes 07, 08, 09, with the width of the first number.
std::vector<std::string> range_of(std::string_view list, std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    number_in(list, text);
    return {std::string(text)};
  }
  const std::string_view low = text.substr(0, dash);
  const int first = number_in(list, low);
  const int last = number_in(list, text.substr(dash + 1));
  if (last < first || last - first >= kNodesMax) refuse_list(list);
  std::vector<std::string> all;
  for (int number = first; number <= last; ++number) {
    const std::string digits = std::to_string(number);
    const std::size_t zeros = low.size() > digits.size() ? low.size() - digits.size() : 0;
    all.push_back(std::string(zeros, '0') + digits);
  }
  return all;
}

}  // namespace

std::vector<std::string> expand_nodes(std::string_view list) {
  std::vector<std::string> nodes;
  for (const std::string_view part : parts_of(list)) {
    const std::size_t open = part.find('[');
    if (open == std::string_view::npos) {
      nodes.emplace_back(part);
      continue;
    }
    const std::size_t close = part.find(']');
    const std::string_view inside = part.substr(open + 1, close - open - 1);
    const std::string head(part.substr(0, open));
    const std::string tail(part.substr(close + 1));
    // Lists such as rack[1-2]n[1-4] are rare, and Slurm can expand them.
    if (tail.find('[') != std::string::npos) refuse_list(list);
    for (const std::string_view range : parts_of(inside)) {
      for (const std::string& digits : range_of(list, range)) nodes.push_back(head + digits + tail);
    }
  }
  if (nodes.size() > kNodesMax) refuse_list(list);
  return nodes;
}

std::vector<int> expand_counts(std::string_view list) {
  std::vector<int> counts;
  for (const std::string_view part : parts_of(list)) {
    const std::size_t open = part.find("(x");
    const int count = number_in(list, part.substr(0, open));
    int times = 1;
    if (open != std::string_view::npos) {
      if (!part.ends_with(')')) refuse_list(list);
      times = number_in(list, part.substr(open + 2, part.size() - open - 3));
    }
    if (count < 1 || times < 1 || times > kNodesMax) refuse_list(list);
    counts.insert(counts.end(), static_cast<std::size_t>(times), count);
  }
  return counts;
}

std::vector<HostRanks> slurm_hosts(const Lookup& lookup) {
  const Variables in(lookup);
  const std::optional<std::string> list = in.text("SLURM_JOB_NODELIST");
  if (!list) {
    throw Error(ErrorCode::InvalidInput,
                "--slurm: SLURM_JOB_NODELIST is not set; type this inside sbatch or salloc, or let "
                "`trireme submit` do it");
  }
  const std::vector<std::string> nodes = expand_nodes(*list);
  const std::vector<int> tasks = expand_counts(in.text("SLURM_TASKS_PER_NODE").value_or("1"));
  std::vector<HostRanks> hosts;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    hosts.push_back({.name = nodes[i], .ranks = i < tasks.size() ? tasks[i] : tasks.back()});
  }
  return hosts;
}

std::vector<std::string> slurm_shell() {
  // One agent per node, beside other steps of the allocation, with all of the node's cores.
  // Unbuffered, since Slurm would otherwise wait for the end of a line.
  return {"srun",      "--nodes=1",       "--ntasks=1",   "--overlap",
          "--quiet",   "--cpu-bind=none", "--unbuffered", "--kill-on-bad-exit=0",
          "--nodelist"};
}

}  // namespace trireme::cluster::launch::hosts
