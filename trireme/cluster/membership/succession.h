// Succession is one member's part in agreeing on the next epoch, as a pure state machine: it says
// which request to send to the store, receives the reply, and ends with an Epoch and the reports of
// its members, or with an Error.
//
//   1. If new workers are admitted: it reads which workers wait, and how many are wanted.
//   2. It proposes epoch n+1 by compare_and_set; the first proposal wins and all members use it. An
//      epoch with a dead member is skipped: the member proposes n+2, based on it.
//   3. Every member that is not new writes its report once and reads all others' reports. After a
//      death in the meantime, or if another member has created epoch n+2, it continues with n+2.
//
// A dismissed worker erases its announcement and writes a farewell, which the others wait for: from
// then on it touches nothing that the members share. As long as it is announced, every epoch lists
// it as dismissed, so that no member mistakes it for a waiting worker. A member that was left out
// in any other way was declared dead; it ends with Aborted at once.
//
// Pure: no clock and no sockets; Membership drives it over a Store, and a simulation over a
//       simulated one.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/proposal.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster::membership {

class Succession {
 public:
  struct Input {
    int worker = 0;
    Epoch current{};
    std::set<int> dead{};
    bool takes_new = false;
    bool is_join_complete = true;  // the new members of `current` have the state now
    int most = kPlacesMax;
    Bytes report{};
    // The cause of a worker's death, to be recorded in the epoch for all members.
    std::function<std::string(int worker)> cause_of{};
  };

  // REQUIRES: the worker is in the current epoch and not dead.
  explicit Succession(Input input);

  // The request to send to the store now; every call below may change it. REQUIRES: !is_over().
  const StoreRequest& request() const noexcept { return request_; }
  void on_reply(const StoreReply& reply);
  // Any worker, at any time; the current request may become obsolete.
  void on_death(int worker);
  // A Wait was interrupted after a while: checks whether the others have moved on.
  void on_timeout();

  bool is_over() const noexcept { return is_agreed_ || error_.has_value(); }
  // Every epoch decided so far, oldest first; the last one is the result.
  const std::vector<Epoch>& decided() const noexcept { return decided_; }
  // Throws the error if no epoch was agreed on. REQUIRES: is_over().
  const Epoch& epoch() const;
  const std::map<int, Bytes>& reports() const noexcept { return reports_; }
  // The announced workers, if it read them.
  const std::optional<Presence>& presence() const noexcept { return presence_; }
  // Whether it ended with Aborted because the job was made smaller.
  bool is_dismissed() const noexcept { return is_dismissed_; }
  // The workers whose report or farewell it waits for, ascending.
  std::vector<int> awaited() const;

 private:
  enum class Step { Look, Propose, Report, Collect, Await, Peek, Retire, Farewell };

  void ask(Step step, StoreVerb verb, std::string key);
  void ask_swap(Step step, std::string key, ByteView value);
  void propose_now();
  void take(const StoreReply& reply);
  void collect(const StoreReply& reply);
  void await_or_end();
  void note_dismissed(const Epoch& epoch);
  std::vector<int> unreported() const;

  const Input input_;
  std::set<int> dead_;
  std::set<int> has_state_;
  Places avoided_;
  std::optional<Presence> presence_;
  std::vector<Epoch> decided_;
  std::map<int, Bytes> reports_;
  std::set<int> dismissed_;  // dismissed by the epochs decided here, farewell not written yet
  std::set<int> carried_;    // dismissed before; the members that had to have waited for their
                             // farewells
  std::set<int> stopped_;    // farewell written
  Step step_ = Step::Look;
  int awaited_ = -1;
  StoreRequest request_;
  bool is_agreed_ = false;
  bool is_dismissed_ = false;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster::membership
