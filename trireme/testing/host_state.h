// HostState knows what a test may leave on the host, and tells what it did leave: processes, files
// in /dev/shm, and jobs' folders.
//
// Processes: everything started after construction carries a mark in its environment and, being
//            orphaned, comes to this process; either way it is found. Other tests' are not.
// /dev/shm:  a private one for this process and its children, where that is allowed (root); else
//            it is not looked at, and has_private_shm() says so.
// Jobs:      XDG_RUNTIME_DIR is a temporary folder of this object.
// Threads:   make it before any other thread; one a test.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/temporary_folder.h"

namespace trireme::testing {

class HostState {
 public:
  HostState();

  const std::filesystem::path& runtime() const noexcept { return runtime_.path(); }
  bool has_private_shm() const noexcept { return has_private_shm_; }

  // One line for each thing that is left, waiting until the deadline for it to go.
  std::vector<std::string> leftovers(Deadline deadline) const;
  // Processes that carry the mark, or descend from us, and are not dead.
  std::vector<pid_t> processes() const;

 private:
  TemporaryFolder runtime_;
  std::string mark_;
  bool has_private_shm_ = false;
};

}  // namespace trireme::testing
