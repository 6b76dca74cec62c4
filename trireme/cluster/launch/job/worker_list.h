// WorkerList is what the launcher of an elastic job knows about its workers: worker_list.json in
// the job's folder, for the launcher that takes over when this one is killed.
//
// Errors:        load() returns nothing for a file that is missing, truncated or malformed.
// Thread safety: values; save() replaces the file atomically.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace trireme::cluster::launch::job {

struct WorkerEntry {
  int worker = 0;
  pid_t pid = 0;
  unsigned long long start = 0;  // identifies the process together with the pid; see
                                 // host/process_tree.h
  int share = 0;                 // index of its share of the host's cores
};

struct WorkerList {
  int next = 0;  // the number of the next worker
  int wanted = 0;
  bool is_done = false;  // the training is done; no worker is replaced
  std::vector<WorkerEntry> members{};

  void save(const std::filesystem::path& path) const;
  static std::optional<WorkerList> load(const std::filesystem::path& path);
};

}  // namespace trireme::cluster::launch::job
