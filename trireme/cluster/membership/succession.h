// Succession is one member's part in agreeing on the next epoch, as a pure state machine: it says
// which request to make of the store, is told the reply, and ends with an Epoch and the reports of
// its members, or with an Error.
//
//   1. Where newcomers are taken: who waits, and how many are wanted.
//   2. Its proposal for epoch n+1 by compare_and_set; the first one wins and everybody takes that.
//      One that has a dead member is over before it began: on to n+2, from it.
//   3. Every member that is not new writes its report, once, and reads all others'. A death in the
//      meantime, or an epoch n+2 that somebody else has begun, is again: on to n+2.
//
// Whoever is dismissed takes its announcement back and says farewell, which the others wait for:
// from then on it touches nothing of theirs. As long as it is announced every epoch names it, so
// that nobody takes it for one that waits. A member left out in any other
// way was taken for dead; it ends with Aborted at once.
//
// Pure: no clock, no sockets; Membership drives it over a Store, the simulation over a network
// that loses and doubles messages.

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
#include "trireme/cluster/store_message.h"

namespace trireme::cluster::membership {

class Succession {
 public:
  struct Input {
    int worker = 0;
    Epoch current{};
    std::set<int> dead{};
    bool takes_new = false;
    bool is_join_complete = true;  // whoever is new in `current` has the state by now
    int most = kPlacesMax;
    Bytes report{};
    // Of one who is dead, for all to know.
    std::function<std::string(int worker)> cause_of{};
  };

  // REQUIRES: the worker is in the current epoch and not dead.
  explicit Succession(Input input);

  // What to ask the store now; it changes with every call below. REQUIRES: !is_over().
  const StoreRequest& request() const noexcept { return request_; }
  void on_reply(const StoreReply& reply);
  // Any worker, at any time; what was asked may no longer be wanted.
  void on_death(int worker);
  // A Wait was given up after a while: looks whether the others have gone on.
  void on_timeout();

  bool is_over() const noexcept { return is_agreed_ || error_.has_value(); }
  // Every epoch that was decided on the way, oldest first; the last is the one that counts.
  const std::vector<Epoch>& decided() const noexcept { return decided_; }
  // REQUIRES: is_over(). Throws how it ended if it did not end well.
  const Epoch& epoch() const;
  const std::map<int, Bytes>& reports() const noexcept { return reports_; }
  // Who was there, if it looked.
  const std::optional<Presence>& presence() const noexcept { return presence_; }
  // It ended with Aborted because the job was made smaller.
  bool is_dismissed() const noexcept { return is_dismissed_; }
  // Whose report or farewell is awaited, ascending.
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
  std::set<int> dismissed_;  // on the way, and has not said farewell
  std::set<int> carried_;    // before; whoever had to has waited for it
  std::set<int> stopped_;    // has said it
  Step step_ = Step::Look;
  int awaited_ = -1;
  StoreRequest request_;
  bool is_agreed_ = false;
  bool is_dismissed_ = false;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster::membership
