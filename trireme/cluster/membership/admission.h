// Admission is one worker's way into an elastic job, as a pure state machine like Succession: it
// says which request to make of the store and ends with the first Epoch that has this worker.
//
//   1. Compares itself with the charter: build and job must be the first one's.
//   2. Announces itself, for as long as its session lives.
//   3. Looks for the newest epoch. A running job's members take it in when they like; it waits.
//   4. Where there is no epoch yet, or all members of the newest are proven dead, the workers that
//      are there make one as soon as they are enough: `first_size`, or as many as are wanted. When
//      time is up, `least` are enough.
//
// Failure: Mismatch naming both workers and both values; Deadline naming who never came.
// Pure:    no clock, no sockets. Whether an epoch's members are all dead is asked of the caller.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store_message.h"

namespace trireme::cluster::membership {

class Admission {
 public:
  struct Input {
    Member self{};  // its rank is the worker's number
    int first_size = 1;
    int least = 1;
    int most = kPlacesMax;
    std::function<bool(const Epoch&)> is_abandoned{};  // none: never
  };

  // REQUIRES: 1 <= least <= first_size <= most <= kPlacesMax.
  explicit Admission(Input input);

  // What to ask the store now. REQUIRES: !is_over().
  const StoreRequest& request() const noexcept { return request_; }
  void on_reply(const StoreReply& reply);
  // A Wait was given up after a while: somebody may have gone.
  void on_timeout();
  // Time is up; `waited` is for the message. After a second call it is over.
  void on_deadline(Duration waited);

  bool is_over() const noexcept { return is_admitted_ || error_.has_value(); }
  // REQUIRES: is_over(). Throws how it ended if it did not end well.
  const Epoch& epoch() const;

 private:
  enum class Step { Charter, Announce, Hint, Walk, Gather, Found, Await };

  void ask(Step step, StoreVerb verb, std::string key);
  void ask_swap(Step step, std::string key, ByteView value, Lifetime lifetime);
  void walk(const StoreReply& reply);
  void settle();
  void gather(const StoreReply& reply);
  void take(const StoreReply& reply);
  bool may_found() const;
  void fail(ErrorCode code, const std::string& text) { error_ = Error(code, text); }

  const Input input_;
  const Bytes record_;
  Step step_ = Step::Charter;
  StoreRequest request_;
  std::uint64_t number_ = 1;  // that is asked for while it walks
  Epoch latest_;
  bool is_late_ = false;
  Duration waited_{};
  bool is_admitted_ = false;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster::membership
