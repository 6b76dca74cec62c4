#include "trireme/cluster/rendezvous.h"

#include <chrono>
#include <optional>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/cluster/meeting.h"

namespace trireme::cluster {
namespace {

constexpr auto kGrace = std::chrono::seconds(1);

std::optional<ByteView> view_of(const StoreValue& value) {
  return value ? std::optional<ByteView>(*value) : std::nullopt;
}

// The few verbs that a meeting uses, on any Store.
StoreReply call(Store& store, const StoreRequest& request, Deadline deadline) {
  StoreReply reply;
  switch (request.verb) {
    case StoreVerb::Swap: {
      SwapResult result = store.compare_and_set(request.key, view_of(request.expected),
                                                view_of(request.value), deadline, request.lifetime);
      reply.flag = result.swapped;
      if (result.current) reply.value = share(*result.current);
      return reply;
    }
    case StoreVerb::Add:
      reply.number = store.add(request.key, request.delta, deadline);
      return reply;
    case StoreVerb::Wait:
      reply.value = share(store.wait(request.key, deadline));
      return reply;
    case StoreVerb::List:
      for (StoreChange& entry : store.list(request.key, deadline)) {
        reply.items.push_back({std::move(entry.key), share(*entry.value), entry.revision});
      }
      return reply;
    default:
      TRIREME_CHECK(false, "a meeting does not ", name_of(request.verb));
      return reply;
  }
}

}  // namespace

Roster rendezvous(Store& store, std::uint64_t epoch, const Member& self, Deadline deadline,
                  std::optional<TimePoint> begin) {
  // What the caller granted, not how late this thread came to run.
  const Duration granted = deadline.when() - begin.value_or(steady_clock().now());
  Meeting meeting(epoch, self);
  while (!meeting.is_over()) {
    try {
      meeting.on_reply(call(store, meeting.request(), deadline));
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
