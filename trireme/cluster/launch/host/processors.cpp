#include "trireme/cluster/launch/host/processors.h"

#include <sched.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::host {
namespace {

namespace fs = std::filesystem;

constexpr int kProcessorsMax = 8192;  // the most that Linux can be configured for

int read_or(const fs::path& path, int otherwise) {
  std::ifstream file(path);
  int number = otherwise;
  return file >> number ? number : otherwise;
}

}  // namespace

std::vector<Processor> allowed_processors(const fs::path& root) {
  // The kernel refuses a mask smaller than its own, so the fixed-size cpu_set_t is not sufficient.
  std::vector<unsigned long> mask(kProcessorsMax / (8 * sizeof(unsigned long)));
  auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
  const std::size_t size = mask.size() * sizeof(unsigned long);
  if (sched_getaffinity(0, size, set) != 0) throw system_error("sched_getaffinity", errno);
  std::vector<Processor> processors;
  for (int id = 0; id < kProcessorsMax; ++id) {
    if (!CPU_ISSET_S(static_cast<std::size_t>(id), size, set)) continue;
    const fs::path topology =
        root / "sys/devices/system/cpu" / ("cpu" + std::to_string(id)) / "topology";
    // A core is identified by its first sibling ("0,64" or "0-1"): on some virtual machines core_id
    // is 0 for all processors, which would merge them all into one core.
    processors.push_back({.id = id,
                          .package = read_or(topology / "physical_package_id", 0),
                          .core = read_or(topology / "thread_siblings_list", id)});
  }
  return processors;
}

int bind_to(const int* processors, int count) noexcept {
  unsigned long mask[kProcessorsMax / (8 * sizeof(unsigned long))] = {};
  auto* set = reinterpret_cast<cpu_set_t*>(mask);
  for (int i = 0; i < count; ++i) {
    CPU_SET_S(static_cast<std::size_t>(processors[i]), sizeof(mask), set);
  }
  return sched_setaffinity(0, sizeof(mask), set) == 0 ? 0 : errno;
}

}  // namespace trireme::cluster::launch::host
