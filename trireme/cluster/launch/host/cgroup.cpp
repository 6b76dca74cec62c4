#include "trireme/cluster/launch/host/cgroup.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace trireme::cluster::launch::host {
namespace {

namespace fs = std::filesystem;

// Whether `name` is among the comma-separated words of `list`.
bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// The path of our group within the hierarchy; "" names version 2.
std::optional<std::string> group_path(const fs::path& root, std::string_view controller) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : lists(names, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

struct Mount {
  std::string within;  // the part of the hierarchy that is mounted
  std::string point;
};

std::optional<Mount> mount_of(const fs::path& root, std::string_view controller) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string id, parent, device, type, source, options;
    Mount mount;
    before >> id >> parent >> device >> mount.within >> mount.point;
    after >> type >> source >> options;
    const bool is_it =
        controller.empty() ? type == "cgroup2" : type == "cgroup" && lists(options, controller);
    if (is_it) return mount;
  }
  return std::nullopt;
}

std::optional<double> read_number(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// "max 100000" or "150000 100000".
std::optional<double> read_quota(const fs::path& cpu_max) {
  std::ifstream file(cpu_max);
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

std::optional<double> read_old_quota(const fs::path& folder) {
  const auto quota = read_number(folder / "cpu.cfs_quota_us");
  const auto period = read_number(folder / "cpu.cfs_period_us");
  if (quota && period && *quota > 0 && *period > 0) return *quota / *period;
  return std::nullopt;
}

std::optional<std::uint64_t> read_count(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  std::string name;
  for (std::uint64_t count = 0; file >> name >> count;) {
    if (name == key) return count;
  }
  return std::nullopt;
}

}  // namespace

Cgroup::Cgroup(const fs::path& root)
    : root_(root),
      unified_(find("")),
      cpu_(find("cpu")),
      memory_(find("memory")),
      pids_(find("pids")) {}

std::optional<Cgroup::Hierarchy> Cgroup::find(std::string_view controller) const {
  const auto path = group_path(root_, controller);
  const auto mount = mount_of(root_, controller);
  if (!path || !mount) return std::nullopt;
  // In a container the mount shows a part of the hierarchy, and the path counts from its top.
  fs::path relative = fs::path(*path).relative_path();
  const fs::path within = fs::path(mount->within).relative_path();
  if (!within.empty()) {
    const fs::path inside = relative.lexically_relative(within);
    relative = inside.empty() || *inside.begin() == ".." || inside == "." ? fs::path() : inside;
  }
  const fs::path point = root_ / fs::path(mount->point).relative_path();
  return Hierarchy{.mount = point, .own = relative.empty() ? point : point / relative};
}

std::vector<fs::path> Cgroup::upwards(const Hierarchy& hierarchy) {
  std::vector<fs::path> folders{hierarchy.own};
  while (folders.back() != hierarchy.mount && folders.back().has_relative_path()) {
    folders.push_back(folders.back().parent_path());
  }
  return folders;
}

std::optional<double> Cgroup::processor_quota() const {
  double least = std::numeric_limits<double>::infinity();
  if (unified_) {
    for (const fs::path& folder : upwards(*unified_)) {
      if (const auto quota = read_quota(folder / "cpu.max")) least = std::min(least, *quota);
    }
  }
  if (cpu_) {
    for (const fs::path& folder : upwards(*cpu_)) {
      if (const auto quota = read_old_quota(folder)) least = std::min(least, *quota);
    }
  }
  if (least == std::numeric_limits<double>::infinity()) return std::nullopt;
  return least;
}

double Cgroup::throttled_seconds() const {
  if (cpu_) {
    const auto nanoseconds = read_count(cpu_->own / "cpu.stat", "throttled_time");
    if (nanoseconds) return 1e-9 * static_cast<double>(*nanoseconds);
  }
  if (!unified_) return 0;
  const auto microseconds = read_count(unified_->own / "cpu.stat", "throttled_usec");
  return microseconds ? 1e-6 * static_cast<double>(*microseconds) : 0;
}

std::optional<std::uint64_t> Cgroup::least_of(const std::optional<Hierarchy>& hierarchy,
                                              const char* file) const {
  std::optional<std::uint64_t> least;
  if (!hierarchy) return least;
  for (const fs::path& folder : upwards(*hierarchy)) {
    std::ifstream stream(folder / file);
    // "max" is no number.
    std::uint64_t number = 0;
    if (stream >> number) least = least ? std::min(*least, number) : number;
  }
  return least;
}

std::optional<std::uint64_t> Cgroup::memory_limit() const {
  const auto limit = least_of(unified_, "memory.max");
  return limit ? limit : least_of(memory_, "memory.limit_in_bytes");
}

std::optional<std::uint64_t> Cgroup::processes_limit() const {
  const auto limit = least_of(unified_, "pids.max");
  return limit ? limit : least_of(pids_, "pids.max");
}

std::optional<std::uint64_t> Cgroup::oom_kills() const {
  if (unified_) {
    if (const auto count = read_count(unified_->own / "memory.events", "oom_kill")) return count;
  }
  if (memory_) return read_count(memory_->own / "memory.oom_control", "oom_kill");
  return std::nullopt;
}

}  // namespace trireme::cluster::launch::host
