// Folder is the private folder (0700) of one running job: its secret, its control socket, its
// events and metrics, and a lock that shows whether the job is alive.
//
//   lock            held by all processes that watch the job, so by any survivor
//   secret          64 hexadecimal digits, 0600
//   card.json       shown by `trireme jobs`
//   control.sock, events.jsonl, metrics.jsonl
//   coordinator     elastic jobs: locked by the process that serves the store, with its pid
//   store.sock, store.log, worker_list.json, worker-7.out and .err (the output pipes of worker 7)
//
// Removal:       the folder is first renamed (.dead-...), so that the job's name is free at once,
//                even if removing the contents fails; sweep() removes the remains.
// Death:         the kernel releases a lock when its last holder dies, in any way. A folder without
//                a held lock belongs to a dead job; sweep() removes it, and kills processes that
//                still have its path in their environment.
// Thread safety: one thread at a time.
// Lifetime:      the destructor removes nothing, since several processes hold the object; remove()
//                does.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::job {

class Folder {
 public:
  // Creates the folder, lock and secret of a job; an empty name is replaced by a generated one.
  // Sweeps `root` first. Throws InvalidInput for a bad name or one that is in use; Io, Exhausted.
  static Folder create(const std::filesystem::path& root, std::string_view name);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::string& name() const noexcept { return name_; }
  std::filesystem::path secret() const { return path_ / "secret"; }
  std::filesystem::path socket() const { return path_ / "control.sock"; }
  std::filesystem::path card() const { return path_ / "card.json"; }
  std::filesystem::path worker_list() const { return path_ / "worker_list.json"; }

  // Removes the folder and its contents; does nothing if it is already gone, or belongs to another
  // job by now.
  void remove() const noexcept;

 private:
  Folder(std::filesystem::path path, std::string name, Descriptor lock);

  std::filesystem::path path_;
  std::string name_;
  Descriptor lock_;
};

// The file that an elastic job's coordinator holds locked.
inline constexpr const char* kCoordinatorFile = "coordinator";

// Takes a lock of the open file, which a forked process shares. False: another process holds it.
bool try_lock(const Descriptor& file);
// Whether a process holds the lock; does not interfere with the holder.
bool is_locked(const Descriptor& file);

// Whether one of the processes that watch the job of this folder is alive.
bool is_watched(const std::filesystem::path& folder);
// The same, or an elastic job's coordinator is alive, so that its workers may still train.
bool is_alive(const std::filesystem::path& folder);

// Kills processes that have the folder's path in their environment, repeatedly until none is found.
// False: some were left at the deadline.
bool kill_strays(const std::filesystem::path& folder, Deadline deadline);

// The folders in `root` of jobs that are alive, sorted by name.
std::vector<std::filesystem::path> living(const std::filesystem::path& root);

// Removes the folders of dead jobs in `root`; returns how many.
int sweep(const std::filesystem::path& root);
// The same, ignoring errors.
void sweep_quietly(const std::filesystem::path& root) noexcept;

}  // namespace trireme::cluster::launch::job
