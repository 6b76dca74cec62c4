// FarWatch says which members on other hosts are gone, by what the store shows of them: a worker's
// record goes with its session when its process ends, and whoever is frozen or cut off no longer
// beats.
//
// A record may go and come again, when a connection broke and not its process: whoever is back
// within kReturn was never gone. What this process missed because it was stopped itself, or because
// the store was, is held against nobody.
//
// Pure: no clock, no thread; time is what the caller says it is.

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
    bool is_silent = false;  // told by its heartbeats, not by its record
  };

  // A timeout of zero expects no heartbeats.
  explicit FarWatch(Duration timeout) : timeout_(timeout) {}

  // These are watched from now on, and nobody else.
  void set_members(const std::set<int>& workers, TimePoint now);
  // These, too.
  void add_members(const std::set<int>& workers, TimePoint now);
  bool has_members() const noexcept { return !members_.empty(); }

  // The store shows everything anew from here on.
  void restart(TimePoint now);
  // Those whose records the store does not show went before anybody looked.
  void miss_absent(const std::map<int, Member>& records, TimePoint now);
  // A key of the store has changed, or went.
  void note(std::string_view key, bool is_there, TimePoint now);

  // Who is gone, each once. To be asked often.
  std::vector<Lost> lost(TimePoint now);
  // Of one who was: nobody was told of it. Its record is there after all, or that is not known yet.
  void take_back(int worker, bool is_there);

 private:
  struct Signs {
    TimePoint heard{};
    std::optional<TimePoint> gone;  // since when its record is
  };

  Duration timeout_;
  std::map<int, Signs> members_;
  std::set<int> told_;
  std::optional<TimePoint> looked_;
};

}  // namespace trireme::cluster::membership
