// HostState detects what a test leaves on the host: processes, files in /dev/shm, and job folders.
//
// Processes:     every process started after construction has a marker in its environment and is
//                reparented to this process if its parent exits; each of the two is enough to find
//                it. Processes of other tests are not reported.
// /dev/shm:      private to this process and its children if that is permitted (root); otherwise it
//                is not checked and has_private_shm() returns false.
// Jobs:          XDG_RUNTIME_DIR is a temporary folder of this object.
// Lifetime:      the destructor kills remaining processes, including stopped ones, and removes
//                remaining files, so that a failed test does not affect the next one.
// Thread safety: create it before any other thread; at most one per test.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::testing {

class HostState {
 public:
  HostState();
  ~HostState();
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;

  const std::filesystem::path& runtime() const noexcept { return runtime_.path(); }
  bool has_private_shm() const noexcept { return has_private_shm_; }

  // Waits until the deadline for everything to disappear; returns one line for each thing that is
  // left.
  std::vector<std::string> leftovers(Deadline deadline) const;
  // Processes that have the marker or descend from this process, and are not dead.
  std::vector<pid_t> processes() const;

 private:
  void end_processes() const;

  TemporaryFolder runtime_;
  std::string mark_;
  bool has_private_shm_ = false;
};

}  // namespace trireme::testing
