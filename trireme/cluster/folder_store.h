// FolderStore is a Store that needs no server: a folder that all hosts of the job see, such as a
// home directory on NFS.
//
//   <folder>/lock            whoever changes something holds flock(2) on it
//   <folder>/journal         every change (see store_journal.h)
//   <folder>/sessions/<id>   held by flock(2) for as long as its FolderStore lives
//
// Sessions: the kernel frees a dead process's locks; whoever next looks finds the session's file
//           free and erases its keys. A process that was forked and did not exec shares its
//           parent's locks.
// Latency:  waiting polls, from 1 ms to `poll_max`; reading takes the lock for a moment, which
//           makes NFS forget what it cached. Prefer a server where one can be had.
// Left over: the folder outlives its users, since a late rank may still come; whoever named it
//           removes it. A folder must be new for every job.
// Failure:  Io or Exhausted when the file system refuses (nothing changed then); Deadline when
//           the lock cannot be had in time.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "trireme/base/descriptor.h"
#include "trireme/cluster/message_store.h"
#include "trireme/cluster/store_journal.h"
#include "trireme/cluster/store_session.h"
#include "trireme/cluster/store_state.h"

namespace trireme::cluster {

class FolderStore final : public MessageStore {
 public:
  struct Options {
    std::string folder{};
    std::chrono::milliseconds poll_max{20};
    StoreBounds bounds{};
  };

  // Makes the folder (0700) if there is none.
  FolderStore(Options options, Deadline deadline);
  ~FolderStore() override;
  FolderStore(const FolderStore&) = delete;
  FolderStore& operator=(const FolderStore&) = delete;

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;
  void tell(StoreRequest request) noexcept override;

 private:
  class Hold;  // of the folder's lock, by one thread of this process

  std::string session_path(StoreSessionId id) const;
  void open_session(Deadline deadline);
  bool is_dead(StoreSessionId id) const;
  void begin(std::unique_lock<std::mutex>& lock, StoreRequest& request, Deadline deadline);
  void catch_up(StoreJournal::Access access);
  void deliver();
  void poll(std::unique_lock<std::mutex>& lock, std::uint16_t slot, Deadline deadline);
  void look_for_the_dead(std::unique_lock<std::mutex>& lock, Deadline deadline);

  const Options options_;
  Descriptor lock_file_;
  Descriptor session_file_;
  StoreSessionId id_ = 0;

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  bool is_held_ = false;  // some thread of ours has, or is about to have, the folder's lock
  StoreJournal journal_;
  StoreState state_;
  StoreSession slots_;
  std::map<std::uint16_t, std::optional<StoreReply>> calls_;
  TimePoint next_look_{};  // for dead sessions
};

}  // namespace trireme::cluster
