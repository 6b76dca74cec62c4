// DeathBook records which workers are gone, and reports them to callbacks.
//
// Each worker is recorded once, with the first cause that was given; a cause announced by accuse()
// takes precedence over the cause in report(). Each callback is called for members of the current
// epoch, once each. A worker that was gone before it was in the epoch, or before a callback was
// added, is reported as soon as both are there.
//
// Thread safety: any thread may call. The callbacks run on the thread that reports the death, one
//                at a time; they must not throw and must not call on_gone().

#pragma once

#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"

namespace trireme::cluster::membership {

class DeathBook {
 public:
  using Callback = std::function<void(const WorkerEnd& end)>;

  // Sets the cause to use if this worker is reported dead later.
  void accuse(int worker, const std::string& cause);
  void report(const WorkerEnd& end);

  void on_gone(Callback callback);

  // Sets the epoch whose members are reported from now on. Returns false, and changes nothing, if a
  // member is known to be gone and `may_have_dead` is false.
  bool adopt(const Epoch& epoch, bool may_have_dead);

  std::set<int> dead() const;
  std::optional<std::string> cause_of(int worker) const;
  bool has_died(int worker) const;  // and did not leave
  bool has_lost() const;            // a member of the current epoch

 private:
  struct Listener {
    Callback callback;
    std::set<int> told{};
  };

  void tell();

  std::mutex calling_;  // held while a callback runs; locked before mutex_
  mutable std::mutex mutex_;
  std::list<Listener> listeners_;  // changed with both locked
  std::map<int, std::string> accused_;
  std::map<int, WorkerEnd> dead_;
  std::set<int> members_;
};

}  // namespace trireme::cluster::membership
