// Crew is what the launcher of an elastic job knows of its workers: crew.json in the job's folder,
// for the launcher that takes over when this one is killed.
//
// Failure: load() gives nothing for a file that is missing, cut off or not one of ours.
// Threads: values; save() replaces the file at once.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace trireme::cluster::launch::job {

struct CrewMember {
  int worker = 0;
  pid_t pid = 0;
  unsigned long long start = 0;  // with the pid it names one process; see host/process_tree.h
  int share = 0;                 // of the host's cores
};

struct Crew {
  int next = 0;  // the number of the next worker
  int wanted = 0;
  bool is_done = false;  // the training is; nobody is replaced
  std::vector<CrewMember> members{};

  void save(const std::filesystem::path& path) const;
  static std::optional<Crew> load(const std::filesystem::path& path);
};

}  // namespace trireme::cluster::launch::job
