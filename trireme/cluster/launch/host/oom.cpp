#include "trireme/cluster/launch/host/oom.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string_view>

namespace trireme::cluster::launch::host {
namespace {

constexpr std::string_view kVictim = "Killed process ";
constexpr std::size_t kVictimsMax = 64 * 1024;

std::optional<std::uint64_t> read_host_kills(const std::filesystem::path& vmstat) {
  std::ifstream file(vmstat);
  std::string name;
  for (std::uint64_t count = 0; file >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

// Consumes one kill of the difference; false when there is none.
bool take_one(std::optional<std::uint64_t>& before, std::optional<std::uint64_t> now) {
  if (!before || !now || *now <= *before) return false;
  ++*before;
  return true;
}

}  // namespace

OomWatch::OomWatch(const std::filesystem::path& root)
    : cgroup_(root),
      vmstat_(root / "proc/vmstat"),
      group_kills_(cgroup_.oom_kills()),
      host_kills_(read_host_kills(vmstat_)),
      kernel_log_(open((root / "dev/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (kernel_log_ >= 0) lseek(kernel_log_, 0, SEEK_END);
}

OomWatch::~OomWatch() {
  if (kernel_log_ >= 0) close(kernel_log_);
}

void OomWatch::read_kernel_log() {
  char line[8192];
  while (kernel_log_ >= 0) {
    const ssize_t size = read(kernel_log_, line, sizeof(line));
    // EPIPE: lines were overwritten before they were read; reading continues with the oldest line.
    if (size < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (size <= 0) return;
    const std::string_view text(line, static_cast<std::size_t>(size));
    for (std::size_t at = text.find(kVictim); at != std::string_view::npos;
         at = text.find(kVictim, at + 1)) {
      const std::size_t end = text.find_first_not_of("0123456789", at + kVictim.size());
      if (victims_.size() < kVictimsMax) victims_.append(text.substr(at, end - at)).append(" ");
    }
  }
}

OomKill OomWatch::explain(pid_t pid) {
  read_kernel_log();
  const bool is_named =
      victims_.find(std::string(kVictim) + std::to_string(pid) + " ") != std::string::npos;
  const bool is_in_group = take_one(group_kills_, cgroup_.oom_kills());
  const bool is_on_host = take_one(host_kills_, read_host_kills(vmstat_));
  if (is_named || is_in_group) return OomKill::Proven;
  return is_on_host ? OomKill::Likely : OomKill::No;
}

}  // namespace trireme::cluster::launch::host
