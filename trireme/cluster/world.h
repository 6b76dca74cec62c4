// World is this process's membership in its job: who am I, who are the others, how do we talk.
//
//   cluster::World world = cluster::World::join();
//   fmt::print("rank {} of {}\n", world.rank(), world.size());
//
// Joining reads the environment (see environment.h), connects to the job's store or serves it,
// waits until all ranks have come, finds out who shares memory with whom, and begins to watch for
// deaths. Without a launcher it is a job of one.
//
// Failure:  what environment, store and rendezvous throw; nothing is left behind then.
// Threads:  any thread may use a World. Several Worlds may live in one process, each with a
//           lookup of its own: ranks as threads.
// Lifetime: the destructor leaves in an orderly way, so that the others do not take it for a
//           death. The rank that serves the store waits for the others to leave before it goes,
//           at most `leave_timeout`.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/log.h"
#include "trireme/cluster/environment.h"
#include "trireme/cluster/failure_detector.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store.h"
#include "trireme/net/credentials.h"

namespace trireme::cluster {

class World {
 public:
  struct Options {
    Lookup lookup = process_environment;
    std::chrono::milliseconds timeout{60000};  // for all ranks to come
    std::chrono::milliseconds leave_timeout{30000};
    std::uint64_t epoch = 0;
    std::string job_hash{};                // of what must be equal on all ranks
    std::vector<std::string> addresses{};  // where this rank listens, for the others to know
    HeartbeatConfig heartbeat{};
    Log log{};
  };

  static World join(const Options& options);
  static World join() { return join(Options()); }

  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  ~World();

  int rank() const noexcept;
  int size() const noexcept;
  // Among the ranks of this host, as the launcher said or as they met.
  int local_rank() const noexcept;
  int local_size() const noexcept;
  const std::string& job() const noexcept;
  // Where ranks of other hosts reach this one, as the launcher said; empty: it did not.
  const std::string& address() const noexcept;
  // Whether payloads between ranks carry checksums, as the environment said; the same on all.
  bool wants_checksums() const noexcept;
  Launcher launcher() const noexcept;
  const Roster& roster() const noexcept;
  Store& store() noexcept;
  // For connections of our own to other ranks; null where nobody gave this job a secret.
  std::shared_ptr<const net::Credentials> credentials() const noexcept;
  // From the beginning of join() until all had met.
  Duration meeting_time() const noexcept;

  // 0, 1, 2, ... for this use, on this rank: what ranks do equally often and in the same order can
  // be named by it.
  std::uint64_t next_number(const std::string& use);

  // Calls back once for each rank that dies, also for those that already did; see
  // failure_detector.h for when and on which thread.
  void on_death(std::function<void(const Death&)> callback);
  // The same for each rank that leaves in order.
  void on_leave(std::function<void(int rank)> callback);
  // Proven, not inferred. With itself: yes.
  bool shares_memory_with(int rank) const;
  // True once the process of a rank that shares memory with us is really gone, false if the
  // deadline comes first. NotFound for other ranks.
  bool wait_gone(int rank, Deadline deadline) const;

 private:
  class Membership;
  explicit World(std::unique_ptr<Membership> membership);

  std::unique_ptr<Membership> membership_;
};

}  // namespace trireme::cluster
