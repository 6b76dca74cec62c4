#include "trireme/cluster/launch/host/room.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "trireme/cluster/launch/host/cgroup.h"

namespace trireme::cluster::launch::host {
namespace {

namespace fs = std::filesystem;

// For the launcher itself: sockets, logs, the control server.
constexpr std::uint64_t kFilesSpare = 64;
// Two pipes and a log, and a connection to the store.
constexpr std::uint64_t kFilesEach = 5;
constexpr std::uint64_t kProcessesSpare = 64;

std::optional<std::uint64_t> available_memory(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string name, unit;
  for (std::uint64_t number = 0; file >> name >> number;) {
    if (name == "MemAvailable:") return number * 1024;
    std::getline(file, unit);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

std::optional<std::uint64_t> limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_max == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_max;
}

void take_less(std::optional<std::uint64_t>& least, std::optional<std::uint64_t> other) {
  if (other) least = least ? std::min(*least, *other) : *other;
}

std::string in_gib(std::uint64_t bytes) {
  const std::uint64_t tenths = bytes / (std::uint64_t{1} << 30) * 10 +
                               bytes % (std::uint64_t{1} << 30) * 10 / (std::uint64_t{1} << 30);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

std::string refusal(int ranks, const std::string& need, const std::string& have,
                    std::uint64_t fit) {
  return "-n " + std::to_string(ranks) + " needs about " + need + ", and " + have + ": " +
         (fit == 0 ? std::string("not even -n 1 fits here")
                   : "at most -n " + std::to_string(fit) + " fits here");
}

}  // namespace

Room Room::measure(const fs::path& root) {
  Room room;
  room.memory = available_memory(root);
  take_less(room.memory, Cgroup(root).memory_limit());
  room.processes = number_in(root / "proc/sys/kernel/threads-max");
  take_less(room.processes, number_in(root / "proc/sys/kernel/pid_max"));
  take_less(room.processes, Cgroup(root).processes_limit());
  take_less(room.processes, limit_of(RLIMIT_NPROC));
  room.files = limit_of(RLIMIT_NOFILE);
  return room;
}

std::string mistake_in_size(const Room& room, const RoomNeeded& needed) {
  const auto ranks = static_cast<std::uint64_t>(needed.ranks);
  if (room.memory && needed.memory_each > 0 && ranks * needed.memory_each > *room.memory) {
    return refusal(needed.ranks, in_gib(ranks * needed.memory_each),
                   in_gib(*room.memory) + " of memory are left", *room.memory / needed.memory_each);
  }
  const auto threads = static_cast<std::uint64_t>(needed.threads_each);
  if (room.processes && ranks * threads + kProcessesSpare > *room.processes) {
    const std::uint64_t rest = *room.processes - std::min(*room.processes, kProcessesSpare);
    return refusal(needed.ranks, std::to_string(ranks * threads) + " processes and threads",
                   std::to_string(*room.processes) + " are allowed (ulimit -u, pids.max)",
                   rest / threads);
  }
  if (room.files && ranks * kFilesEach + kFilesSpare > *room.files) {
    const std::uint64_t rest = *room.files - std::min(*room.files, kFilesSpare);
    return refusal(needed.ranks, std::to_string(ranks * kFilesEach) + " open files",
                   std::to_string(*room.files) + " are allowed (ulimit -Hn)", rest / kFilesEach);
  }
  return {};
}

}  // namespace trireme::cluster::launch::host
