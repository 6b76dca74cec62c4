// FarWatch detects which members on other hosts are gone, from their keys in the store: a worker's
// record ends with its session when its process ends, and a worker that is frozen or disconnected
// no longer sends heartbeats.
//
// A record may vanish and return when a connection broke but its process lives: a worker that is
// back within kReturn was never gone. Time that this process missed because it, or the store, was
// stopped is not counted against any worker.
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

  struct Lost {
    int worker = 0;
    std::string cause{};
    bool is_silent = false;  // detected by its missing heartbeats, not by its missing record
  };

  // With a timeout of zero no heartbeats are expected.
  explicit FarWatch(Duration timeout) : timeout_(timeout) {}

  // Watches exactly these workers from now on.
  void set_members(const std::set<int>& workers, TimePoint now);
  // Watches these workers too.
  void add_members(const std::set<int>& workers, TimePoint now);
  bool has_members() const noexcept { return !members_.empty(); }
  bool has_member(int worker) const { return members_.contains(worker); }

  // The store reports all keys again from here on.
  void restart(TimePoint now);
  // Members whose records are not in the store were gone before the watch started.
  void miss_absent(const std::map<int, Member>& records, TimePoint now);
  // A key of the store was changed or erased.
  void note(std::string_view key, bool is_there, TimePoint now);

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

  Duration timeout_;
  std::map<int, Signs> members_;
  std::set<int> told_;
  std::optional<TimePoint> looked_;
};

}  // namespace trireme::cluster::membership
