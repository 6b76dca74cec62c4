#include "trireme/cluster/launch/host/cgroup.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace trireme::cluster::launch::host {
namespace {

namespace fs = std::filesystem;

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
    : unified_(ControlGroup::find("", root)),
      cpu_(ControlGroup::find("cpu", root)),
      memory_(ControlGroup::find("memory", root)),
      pids_(ControlGroup::find("pids", root)) {}

std::optional<double> Cgroup::processor_quota() const {
  double least = std::numeric_limits<double>::infinity();
  if (unified_) {
    for (const fs::path& folder : unified_->upwards()) {
      if (const auto quota = read_quota(folder / "cpu.max")) least = std::min(least, *quota);
    }
  }
  if (cpu_) {
    for (const fs::path& folder : cpu_->upwards()) {
      if (const auto quota = read_old_quota(folder)) least = std::min(least, *quota);
    }
  }
  if (least == std::numeric_limits<double>::infinity()) return std::nullopt;
  return least;
}

double Cgroup::throttled_seconds() const {
  if (cpu_) {
    const auto nanoseconds = read_count(cpu_->own() / "cpu.stat", "throttled_time");
    if (nanoseconds) return 1e-9 * static_cast<double>(*nanoseconds);
  }
  if (!unified_) return 0;
  const auto microseconds = read_count(unified_->own() / "cpu.stat", "throttled_usec");
  return microseconds ? 1e-6 * static_cast<double>(*microseconds) : 0;
}

std::optional<std::uint64_t> Cgroup::least_of(const std::optional<ControlGroup>& hierarchy,
                                              const char* file) {
  std::optional<std::uint64_t> least;
  if (!hierarchy) return least;
  for (const fs::path& folder : hierarchy->upwards()) {
    std::ifstream stream(folder / file);
    // "max" is not a number.
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
    if (const auto count = read_count(unified_->own() / "memory.events", "oom_kill")) return count;
  }
  if (memory_) return read_count(memory_->own() / "memory.oom_control", "oom_kill");
  return std::nullopt;
}

}  // namespace trireme::cluster::launch::host
