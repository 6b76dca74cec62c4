// DeathBook records which workers are gone, and reports them to a callback.
//
// Each worker is recorded once, with the first cause that was given; a cause announced by accuse()
// takes precedence over the cause in report(). The callback is called for members of the current
// epoch, once each. A worker that died before it was in the epoch, or before a callback was set, is
// reported as soon as both are there.
//
// Thread safety: any thread may call. The callback runs on the thread that reports the death, one
//                at a time; it must not throw and must not call on_death().

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

  // Sets the cause to use if this worker is reported dead later.
  void accuse(int worker, const std::string& cause);
  void report(int worker, const std::string& cause);

  // Replaces the previous callback. No call of the previous one is running when this returns.
  void on_death(Callback callback);

  // Sets the epoch whose members are reported from now on. Returns false, and changes nothing, if a
  // member is known to be dead and `may_have_dead` is false.
  bool adopt(const Epoch& epoch, bool may_have_dead);

  std::set<int> dead() const;
  std::optional<std::string> cause_of(int worker) const;
  bool has_lost() const;  // a member of the current epoch

 private:
  void tell();

  std::mutex calling_;  // held while the callback runs; locked before mutex_
  Callback callback_;   // guarded by calling_
  mutable std::mutex mutex_;
  std::map<int, std::string> accused_;
  std::map<int, std::string> dead_;
  std::set<int> members_;
  std::set<int> told_;
};

}  // namespace trireme::cluster::membership
