// Meeting is one rank's part in a rendezvous as a pure state machine: it says which request to
// make of the store, is told the reply, and ends with the Roster or with an Error.
//
// Under `meet/<epoch>/` in the store:
//   charter        what the first arrival is (size, build, job); each later one compares itself
//   member/<rank>  each rank's record, which dies with its session
//   count          how many came; the arrival that completes it looks at all records
//   outcome        the table or a refusal, written once: all ranks end alike
//
// The outcome is set by compare_and_set, whoever wants to end the meeting: the last arrival with
// the table, one that finds a mismatch with the reason, one whose time is up with who never came.
// Hence a rank that comes after others gave up learns that at once.
//
// Pure: no clock, no sockets; rendezvous() drives it over any Store, the simulation over a
// network that loses and doubles messages.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store_message.h"

namespace trireme::cluster {

class Meeting {
 public:
  // REQUIRES: 0 <= self.rank < self.size.
  Meeting(std::uint64_t epoch, Member self);

  // What to ask the store now. REQUIRES: !is_over().
  const StoreRequest& request() const noexcept { return request_; }
  void on_reply(const StoreReply& reply);
  // Time is up: the request is no longer wanted, and a new one finds out who is missing.
  // `waited` is for the message. After a second call the meeting is over.
  void on_deadline(Duration waited);

  bool is_over() const noexcept { return roster_.has_value() || error_.has_value(); }
  // REQUIRES: is_over(). Throws how it ended if it did not end well.
  const Roster& roster() const;

 private:
  enum class Step { Charter, Claim, Count, Collect, Publish, Await };

  void ask(Step step, StoreVerb verb, const std::string& name);
  void ask_swap(Step step, const std::string& name, ByteView value, Lifetime lifetime);
  // Says how the two differ in what must be equal; empty if they do not.
  std::string difference(const Member& other) const;
  void collect(const StoreReply& reply);
  void refuse(ErrorCode code, const std::string& text);
  void take_outcome(ByteView outcome);

  const std::string prefix_;
  const std::uint64_t epoch_;
  const Member self_;
  const Bytes record_;
  Step step_ = Step::Charter;
  StoreRequest request_;
  bool is_late_ = false;
  Duration waited_{};
  std::optional<Error> refusal_;  // ours, not yet known to be the outcome
  std::optional<Roster> roster_;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster
