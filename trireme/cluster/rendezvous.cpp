#include "trireme/cluster/rendezvous.h"

#include <chrono>

#include "trireme/base/error.h"
#include "trireme/cluster/meeting.h"
#include "trireme/cluster/store/store_call.h"

namespace trireme::cluster {
namespace {

constexpr auto kGrace = std::chrono::seconds(1);

}  // namespace

Roster rendezvous(Store& store, std::uint64_t epoch, const Member& self, Deadline deadline,
                  std::optional<TimePoint> begin) {
  // The time that the caller granted, without the delay until this thread was scheduled.
  const Duration granted = deadline.when() - begin.value_or(steady_clock().now());
  Meeting meeting(epoch, self);
  while (!meeting.is_over()) {
    try {
      meeting.on_reply(ask(store, meeting.request(), deadline));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Deadline) {
        throw error.with_rank(self.rank).with_operation("rendezvous").with_cause(error.operation());
      }
      meeting.on_deadline(granted);
      deadline = Deadline::after(kGrace);
    }
  }
  return meeting.roster();
}

}  // namespace trireme::cluster
