// FarWatch detects which members on other hosts are gone, from their keys in the store: a worker's
// record ends with its session when its process ends, a worker that leaves or that others found
// dead has an end, and a worker that is frozen or disconnected no longer sends heartbeats.
//
// A record may vanish and return when a connection broke but its process lives: a worker that is
// back within the grace period was never gone. Time that this process missed because it, or the
// store, was stopped is not counted against any worker.
//
// Pure: no clock and no thread; the caller passes the time.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cluster/membership/records.h"

namespace trireme::cluster::membership {

class FarWatch {
 public:
  static constexpr Duration kReturn = std::chrono::milliseconds(250);

  enum class Sign { NoRecord, NoHeartbeat, End };
  struct Lost {
    WorkerEnd end{};
    Sign sign = Sign::NoRecord;
  };

  // With a timeout of zero no heartbeats are expected. `grace`: how long a record may be missing.
  explicit FarWatch(Duration timeout, Duration grace = kReturn)
      : timeout_(timeout), grace_(grace) {}

  // Watches exactly these workers from now on.
  void set_members(const std::set<int>& workers, TimePoint now);
  // Watches these workers too.
  void add_members(const std::set<int>& workers, TimePoint now);
  bool has_members() const noexcept { return !members_.empty(); }
  bool has_member(int worker) const { return members_.contains(worker); }

  // Expects heartbeats only of these workers; without this call, of all members.
  void listen_to(const std::set<int>& workers, TimePoint now);

  // The store reports all keys again from here on.
  void restart(TimePoint now);
  // This process or the store was away until now, so it counts silence anew.
  void forgive(TimePoint now);
  // Members whose records are not in the store were gone before the watch started.
  void miss_absent(const std::map<int, Member>& records, TimePoint now);
  // A key of the store was changed, or erased if the value is null.
  void note(std::string_view key, const Bytes* value, TimePoint now);

  // The workers that are gone, each once. Call it often.
  std::vector<Lost> lost(TimePoint now);
  // Undoes a result of lost() that was not reported. `is_there`: the worker's record exists after
  // all; otherwise that is not known yet.
  void take_back(int worker, bool is_there);

 private:
  struct Signs {
    TimePoint heard{};
    std::optional<TimePoint> gone;  // since when its record is missing
  };

  std::optional<Lost> look_at(int worker, const Signs& signs, TimePoint now) const;

  Duration timeout_;
  Duration grace_;
  std::map<int, Signs> members_;
  std::map<int, WorkerEnd> ends_;  // of any workers
  std::optional<std::set<int>> listened_;
  std::set<int> told_;
  std::optional<TimePoint> looked_;
};

}  // namespace trireme::cluster::membership
