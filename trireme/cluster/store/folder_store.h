// FolderStore is a Store that needs no server: it uses a folder that all hosts of the job see, such
// as a home directory on NFS.
//
//   <folder>/lock            a process that makes a change holds flock(2) on it
//   <folder>/journal         every change (see store_journal.h)
//   <folder>/sessions/<id>   held by flock(2) for as long as its FolderStore lives
//
// Sessions: the kernel releases a dead process's locks; the next process that looks finds the
//           session's file unlocked and erases the session's keys. A process that was forked
//           without exec shares its parent's locks.
// Latency:  waiting polls, from 1 ms to `poll_max`; reading takes the lock briefly, which
//           invalidates the NFS cache. Use a server where one is available.
// Cleanup:  the folder remains after its users end, because a late rank may still arrive; the user
//           who configured the folder removes it. Every job requires a new folder.
// Errors:   Io or Exhausted when the file system refuses (nothing has changed then); Deadline when
//           the lock is not available in time.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/store/message_store.h"
#include "trireme/cluster/store/store_journal.h"
#include "trireme/cluster/store/store_session.h"
#include "trireme/cluster/store/store_state.h"

namespace trireme::cluster {

class FolderStore final : public MessageStore {
 public:
  struct Options {
    std::string folder{};
    std::chrono::milliseconds poll_max{20};
    StoreBounds bounds{};
  };

  // Creates the folder (0700) if it does not exist.
  FolderStore(Options options, Deadline deadline);
  ~FolderStore() override;
  FolderStore(const FolderStore&) = delete;
  FolderStore& operator=(const FolderStore&) = delete;

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;
  void tell(StoreRequest request) noexcept override;

 private:
  class Hold;  // holds the folder's lock for one thread of this process

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
  bool is_held_ = false;  // a thread of this process has, or is about to get, the folder's lock
  StoreJournal journal_;
  StoreState state_;
  StoreSession slots_;
  std::map<std::uint16_t, std::optional<StoreReply>> calls_;
  TimePoint next_look_{};  // next time to check for dead sessions
};

}  // namespace trireme::cluster
