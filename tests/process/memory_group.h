// A memory control group for the test, of whichever version is available and writable; removed with
// the object.

#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace trireme {

class MemoryGroup {
 public:
  static constexpr const char* kMissing =
      "NOT TESTED: no writable memory control group (needs root, and memory among the controllers "
      "of /sys/fs/cgroup)";

  MemoryGroup(const std::string& name, long limit) {
    namespace fs = std::filesystem;
    const std::string unique = "trireme-" + name + "-" + std::to_string(getpid());
    for (const auto& [parent, file] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                       {"/sys/fs/cgroup", "memory.max"}}) {
      std::error_code error;
      const fs::path path = fs::path(parent) / unique;
      if (!fs::exists(fs::path(parent) / "cgroup.procs", error)) continue;
      if (!fs::create_directory(path, error)) continue;
      path_ = path;
      // Swap would delay the end; if the file does not exist, there is no swap to limit.
      std::ofstream(path / "memory.swap.max") << 0;
      if (std::ofstream(path / file) << limit << std::flush) return;
      fs::remove(path, error);
      path_.clear();
    }
  }
  ~MemoryGroup() {
    std::error_code error;
    for (int i = 0; i < 100 && !path_.empty() && !std::filesystem::remove(path_, error); ++i) {
      usleep(10'000);
    }
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  // Empty if no group could be created.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace trireme
