// Admission is how one worker joins a job, as a pure state machine like Succession: it says which
// request to send to the store and ends with the first Epoch that contains this worker.
//
//   1. It compares itself with the charter: build and job, and in a job of fixed size the number of
//      workers, must equal those of the first worker.
//   2. It announces itself, for as long as its session lives, and is counted. Until the count is
//      complete it waits for the first epoch, so that only the last of N workers reads all records.
//   3. Otherwise it looks for the newest epoch, and waits until the members of a running job admit
//      it.
//   4. If there is no epoch yet, or all members of the newest one are proven dead, the announced
//      workers create one as soon as there are enough of them: `first_size`, or the wanted number
//      if one was set. When the deadline has passed, `least` are enough.
//
// Refusal: a job of fixed size (least = first_size, and no epoch is ever abandoned) that cannot
//          begin ends for all workers with the same reason: a worker that does not match writes it
//          in place of the first epoch, and so does a worker whose deadline has passed. Workers
//          that arrive later read it at once.
// Errors:  Mismatch with both workers and both values, or for the epoch of an earlier run; Deadline
//          with the workers that did not arrive.
// Pure:    no clock and no sockets; admit() drives it over any Store, and a simulation over a
//          simulated one.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/store.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster::membership {

class Admission {
 public:
  struct Input {
    Member self{};  // its rank is the worker's number
    int first_size = 1;
    int least = 1;
    int most = kPlacesMax;
    std::function<bool(const Epoch&)> is_abandoned{};  // not set: never
    std::string noun = "worker";                       // what messages call a worker
  };

  // REQUIRES: 1 <= least <= first_size <= most.
  explicit Admission(Input input);

  // The request to send to the store now. REQUIRES: !is_over().
  const StoreRequest& request() const noexcept { return request_; }
  void on_reply(const StoreReply& reply);
  // A Wait was interrupted after a while: its reply may still be in flight, members may have died
  // meanwhile, or another number of workers may be wanted.
  void on_timeout();
  // How long a wait may last before on_timeout(); nothing: until the deadline, because this worker
  // has nothing to look at.
  std::optional<Duration> wait_slice() const;
  // The deadline has passed; `waited` is for the message. After a second call the admission is
  // over.
  void on_deadline(Duration waited);

  bool is_over() const noexcept { return is_admitted_ || error_.has_value(); }
  // Throws the error if the admission did not succeed. REQUIRES: is_over().
  const Epoch& epoch() const;
  Epoch take_epoch() { return static_cast<void>(epoch()), std::move(latest_); }

 private:
  enum class Step { Charter, Announce, Count, Hint, Walk, Wanted, Gather, Found, Await };

  void ask(Step step, StoreVerb verb, std::string key);
  void ask_swap(Step step, std::string key, ByteView value, Lifetime lifetime);
  void ask_charter();
  void ask_records();
  void await_next();
  void settle();
  void gather(const StoreReply& reply);
  void take(ByteView value);
  bool may_found() const;
  // Every worker is needed, and none is ever replaced.
  bool is_fixed() const { return !input_.is_abandoned && input_.least == input_.first_size; }
  void fail_as_other_run(const std::string& why);
  std::string name() const { return input_.noun + " " + std::to_string(input_.self.rank); }
  void give_up(ErrorCode code, const std::string& text);
  void fail(ErrorCode code, const std::string& text) { error_ = Error(code, text); }

  const Input input_;
  const Bytes record_;
  Step step_ = Step::Charter;
  StoreRequest request_;
  std::uint64_t number_ = 1;  // the epoch that is requested next while searching for the newest
  Epoch latest_;
  bool is_last_ = false;  // the count was complete when this worker arrived
  bool is_late_ = false;
  Duration waited_{};
  bool is_admitted_ = false;
  std::optional<Error> refusal_;  // this worker's refusal, not yet known to be the outcome
  std::optional<Error> error_;
};

// Joins over a real store. `begin` is when the caller started to wait, from which messages count
// the time. Finding out which workers are missing takes up to a second beyond the deadline.
Epoch admit(Store& store, Admission::Input input, Deadline deadline, TimePoint begin);

}  // namespace trireme::cluster::membership
