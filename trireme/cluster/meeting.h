// Meeting is one rank's part in a rendezvous as a pure state machine: it says which request to send
// to the store, receives the reply, and ends with the Roster or with an Error.
//
// Keys under `meet/<epoch>/` in the store:
//   charter        size, build and job of the first rank to arrive; later ranks compare their own
//   member/<rank>  each rank's record, which ends with the rank's session
//   count          how many ranks arrived; the rank that completes it reads all records
//   outcome        the table or a refusal, written once, so that all ranks end alike
//
// The outcome is set by compare_and_set, by any rank that ends the meeting: the last rank to arrive
// writes the table, a rank that finds a mismatch writes the reason, and a rank whose deadline has
// passed writes which ranks did not arrive. Hence a rank that arrives after the others gave up
// learns that at once.
//
// Pure: no clock and no sockets; rendezvous() drives it over any Store, and the simulation over a
//       network that loses and duplicates messages.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

class Meeting {
 public:
  // REQUIRES: 0 <= self.rank < self.size.
  Meeting(std::uint64_t epoch, Member self);

  // The request to send to the store now. REQUIRES: !is_over().
  const StoreRequest& request() const noexcept { return request_; }
  void on_reply(const StoreReply& reply);
  // The deadline has passed: the request is no longer needed, and a new one finds out which ranks
  // are missing. `waited` is for the message. After a second call the meeting is over.
  void on_deadline(Duration waited);

  bool is_over() const noexcept { return roster_.has_value() || error_.has_value(); }
  // Throws the error if the meeting did not succeed. REQUIRES: is_over().
  const Roster& roster() const;

 private:
  enum class Step { Charter, Claim, Count, Collect, Publish, Await };

  void ask(Step step, StoreVerb verb, const std::string& name);
  void ask_swap(Step step, const std::string& name, ByteView value, Lifetime lifetime);
  // Describes how the two differ in what must be equal; empty if they do not.
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
  std::optional<Error> refusal_;  // this rank's refusal, not yet known to be the outcome
  std::optional<Roster> roster_;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster
