// Admission is how one worker joins an elastic job, as a pure state machine like Succession: it
// says which request to send to the store and ends with the first Epoch that contains this worker.
//
//   1. It compares itself with the charter: build and job must equal those of the first worker.
//   2. It announces itself, for as long as its session lives.
//   3. It looks for the newest epoch and waits until the members of a running job admit it.
//   4. If there is no epoch yet, or all members of the newest one are proven dead, the announced
//      workers create one as soon as there are enough of them: `first_size`, or the wanted number
//      if one was set. When the deadline has passed, `least` are enough.
//
// Errors: Mismatch with both workers and both values; Deadline with the workers that did not
//         arrive.
// Pure:   no clock and no sockets. The caller decides whether all members of an epoch are dead.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"
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
  };

  // REQUIRES: 1 <= least <= first_size <= most <= kPlacesMax.
  explicit Admission(Input input);

  // The request to send to the store now. REQUIRES: !is_over().
  const StoreRequest& request() const noexcept { return request_; }
  void on_reply(const StoreReply& reply);
  // A Wait was interrupted after a while, because members may have died meanwhile.
  void on_timeout();
  // The deadline has passed; `waited` is for the message. After a second call the admission is
  // over.
  void on_deadline(Duration waited);

  bool is_over() const noexcept { return is_admitted_ || error_.has_value(); }
  // Throws the error if the admission did not succeed. REQUIRES: is_over().
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
  std::uint64_t number_ = 1;  // the epoch that is requested next while searching for the newest
  Epoch latest_;
  bool is_late_ = false;
  Duration waited_{};
  bool is_admitted_ = false;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster::membership
