#include "bench/train/rank/footprint.h"

#include <fstream>
#include <sstream>
#include <string>

namespace trireme::bench {
namespace {

// The bytes that a line "<key> <number> kB" states.
std::int64_t bytes_in(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream words(line.substr(key.size()));
    std::int64_t kibibytes = 0;
    words >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

std::int64_t peak_bytes() {
  return bytes_in("/proc/self/status", "VmHWM:");
}

std::int64_t proportional_bytes() {
  return bytes_in("/proc/self/smaps_rollup", "Pss:");
}

// The line is "wire0: ", then eight figures of received data, then those of sent data.
std::int64_t bytes_sent(const std::string& interface) {
  std::ifstream in("/proc/self/net/dev");
  for (std::string line; !interface.empty() && std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name != interface + ":") continue;
    std::int64_t figure = 0;
    for (int i = 0; i <= 8; ++i) words >> figure;
    return figure;
  }
  return 0;
}

}  // namespace trireme::bench
