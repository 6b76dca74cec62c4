// Folder is the private folder (0700) of one running job: its secret, its control socket, its
// events and metrics, and a lock that says whether the job is alive.
//
//   lock            held by all processes that watch the job, so by any survivor
//   secret          64 hexadecimal digits, 0600
//   card.json       what `trireme jobs` shows
//   control.sock, events.jsonl, metrics.jsonl
//   coordinator     of an elastic job: the process that serves its store, which has it locked
//   store.sock, store.log, crew.json, and worker-7.out and .err, through which worker 7 speaks
//
// Removal:  under another name first (.dead-...), so that the job's is free at once, whatever
//           becomes of the rest; sweep() removes what is left of such.
// Death:    the kernel drops a lock with its last holder, in whatever way that died. A folder
//           without locks is a dead job's; sweep() removes it, and ends processes that still
//           carry its address in their environment.
// Lifetime: the destructor removes nothing, since several processes hold the object; remove() does.
// Threads:  one at a time.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"

namespace trireme::cluster::launch::job {

class Folder {
 public:
  // Makes the folder, lock and secret of a job; an empty name is made up. First sweeps `root`.
  // Throws InvalidInput for a bad name or one that is taken; Io, Exhausted.
  static Folder create(const std::filesystem::path& root, std::string_view name);

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::string& name() const noexcept { return name_; }
  std::filesystem::path secret() const { return path_ / "secret"; }
  std::filesystem::path socket() const { return path_ / "control.sock"; }
  std::filesystem::path card() const { return path_ / "card.json"; }

  // Removes it and all that is in it; what is already gone, or another job's by now, is fine.
  void remove() const noexcept;

 private:
  Folder(std::filesystem::path path, std::string name, Descriptor lock);

  std::filesystem::path path_;
  std::string name_;
  Descriptor lock_;
};

// The file that an elastic job's coordinator has locked.
inline constexpr const char* kCoordinatorFile = "coordinator";

// A lock of the open file, which a forked process shares. False: somebody else has it.
bool try_lock(const Descriptor& file);
// Whether somebody has it; disturbs nobody.
bool is_locked(const Descriptor& file);

// Whether one of the processes that watch the job of this folder lives.
bool is_watched(const std::filesystem::path& folder);
// The same, or an elastic job's coordinator does, so that its workers may still train.
bool is_alive(const std::filesystem::path& folder);

// Ends processes that carry the folder's address in their environment, again until none is found.
// False: some were left at the deadline.
bool kill_strays(const std::filesystem::path& folder, Deadline deadline);

// The folders in `root` of jobs that are alive, sorted by name.
std::vector<std::filesystem::path> living(const std::filesystem::path& root);

// Removes what dead jobs left in `root`; says how many.
int sweep(const std::filesystem::path& root);
// The same where failing would help nobody.
void sweep_quietly(const std::filesystem::path& root) noexcept;

}  // namespace trireme::cluster::launch::job
