// World is this process's membership in a job of fixed size: its rank, the other ranks, and how to
// reach them. It opens the job's store and is a Membership (see membership/membership.h) that stays
// in the first epoch.
//
//   cluster::World world = cluster::World::join();
//   fmt::print("rank {} of {}\n", world.rank(), world.size());
//
// Joining reads the environment (see environment.h), connects to the job's store or serves it,
// waits until all ranks have arrived, determines which ranks share memory, and starts to watch for
// deaths. Without a launcher it is a job with one rank.
//
// Errors:        what environment, store and admission throw (see membership/admission.h: a job of
//                fixed size needs all its ranks); nothing is left behind then.
// Thread safety: any thread may use a World. One process may contain several Worlds, each with its
//                own lookup, to run ranks as threads.
// Lifetime:      the destructor leaves in an orderly way, so that the other ranks do not treat it
//                as a death. The rank that serves the store waits for the others to leave before it
//                ends, at most `leave_timeout`.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/log.h"
#include "trireme/cluster/environment.h"
#include "trireme/cluster/liveness/heartbeat.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store/store.h"
#include "trireme/net/auth/credentials.h"

namespace trireme::cluster {

struct Death {
  int rank = 0;
  std::string cause{};
};

class World {
 public:
  struct Options {
    Lookup lookup = process_environment;
    std::chrono::milliseconds timeout{60000};  // for all ranks to arrive
    std::chrono::milliseconds leave_timeout{30000};
    std::string job_hash{};  // hash of what must be equal on all ranks
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
  // Among the ranks of this host, as the launcher set it or as the ranks found when they met.
  int local_rank() const noexcept;
  int local_size() const noexcept;
  const std::string& job() const noexcept;
  // Where ranks on other hosts reach this one, as the launcher set it; empty: not set.
  const std::string& address() const noexcept;
  // Whether payloads between ranks have checksums, as the environment set it; the same on all
  // ranks.
  bool wants_checksums() const noexcept;
  Launcher launcher() const noexcept;
  const Roster& roster() const noexcept;
  Store& store() noexcept;
  // For the caller's own connections to other ranks; null if this job has no secret.
  std::shared_ptr<const net::Credentials> credentials() const noexcept;
  // From the start of join() until all ranks had met.
  Duration meeting_time() const noexcept;

  // Returns 0, 1, 2, ... per `use` on this rank. Ranks that call it the same number of times in the
  // same order can use it to name what they do together.
  std::uint64_t next_number(const std::string& use);

  // Calls back once for each rank that dies, including ranks that already died, and including this
  // one if others took it for dead. See Membership for when and on which thread.
  void on_death(std::function<void(const Death&)> callback);
  // The same for each rank that leaves in an orderly way.
  void on_leave(std::function<void(int rank)> callback);
  // Proven, not inferred. Always true for the rank itself.
  bool shares_memory_with(int rank) const;
  // True once the process of a rank that shares memory with this one is really gone, false if the
  // deadline comes first. Throws NotFound for other ranks.
  bool wait_gone(int rank, Deadline deadline) const;

 private:
  class Part;
  explicit World(std::unique_ptr<Part> part);

  std::unique_ptr<Part> part_;
};

}  // namespace trireme::cluster
