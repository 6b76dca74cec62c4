// DeathBook is what a member knows about who is gone, and whom it tells.
//
// Each worker is written down once, with the first cause that was given; a cause that was promised
// (accuse) goes before the one that the kernel's news comes with. The callback hears of members of
// the current epoch, each once; whoever died before they were in it, or before there was a
// callback, is told when both are there.
//
// Threads: any thread may call. The callback runs on the thread that brings the news, one at a
//          time; it must not throw and must not call on_death().

#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "trireme/cluster/membership/epoch.h"

namespace trireme::cluster::membership {

class DeathBook {
 public:
  using Callback = std::function<void(int worker, const std::string& cause)>;

  // What the cause will be if this worker is reported dead from now on.
  void accuse(int worker, const std::string& cause);
  void report(int worker, const std::string& cause);

  // Replaces the one before, of which no call runs any more when this returns.
  void on_death(Callback callback);

  // The epoch whose members count from now on. False, and nothing changes, if one of them is
  // known to be dead and that is not allowed.
  bool adopt(const Epoch& epoch, bool may_have_dead);

  std::set<int> dead() const;
  std::optional<std::string> cause_of(int worker) const;
  bool has_lost() const;  // somebody of the current epoch

 private:
  void tell();

  std::mutex calling_;  // held while the callback runs; taken before mutex_
  Callback callback_;   // guarded by calling_
  mutable std::mutex mutex_;
  std::map<int, std::string> accused_;
  std::map<int, std::string> dead_;
  std::set<int> members_;
  std::set<int> told_;
};

}  // namespace trireme::cluster::membership
