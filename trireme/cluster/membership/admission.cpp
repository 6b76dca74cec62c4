#include "trireme/cluster/membership/admission.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/cluster/membership/proposal.h"
#include "trireme/cluster/rank_names.h"

namespace trireme::cluster::membership {

Admission::Admission(Input input) : input_(std::move(input)), record_(encode(input_.self)) {
  TRIREME_CHECK(1 <= input_.least && input_.least <= input_.first_size &&
                    input_.first_size <= input_.most && input_.most <= kPlacesMax,
                "a job of ", input_.first_size, " workers, at least ", input_.least,
                " and at most ", input_.most);
  ask_swap(Step::Charter, std::string(kCharterKey), record_, Lifetime::Job);
}

void Admission::ask(Step step, StoreVerb verb, std::string key) {
  step_ = step;
  request_ = {};
  request_.verb = verb;
  request_.key = std::move(key);
}

void Admission::ask_swap(Step step, std::string key, ByteView value, Lifetime lifetime) {
  ask(step, StoreVerb::Swap, std::move(key));
  request_.value = share(value);
  request_.lifetime = lifetime;
}

void Admission::on_reply(const StoreReply& reply) {
  TRIREME_CHECK(!is_over(), "a reply to an admission that is over");
  if (reply.error) return fail(*reply.error, reply.error_text);
  switch (step_) {
    case Step::Charter: {
      const std::string text = difference(input_.self, decode_member(*reply.value));
      if (!text.empty()) return fail(ErrorCode::Mismatch, text);
      return ask_swap(Step::Announce, worker_key(input_.self.rank), record_, Lifetime::Session);
    }
    case Step::Announce:
      // A repeated request may find the record that the first one wrote.
      if (!reply.flag && *reply.value != record_) {
        const Member other = decode_member(*reply.value);
        return fail(ErrorCode::Mismatch,
                    "worker " + std::to_string(input_.self.rank) + " came twice: pid " +
                        std::to_string(other.pid) + " on " + other.host_name + " and pid " +
                        std::to_string(input_.self.pid) + " on " + input_.self.host_name);
      }
      return ask(Step::Hint, StoreVerb::Get, std::string(kNewestKey));
    case Step::Hint:
      if (reply.value) number_ = std::max<std::uint64_t>(1, number_in(*reply.value).value_or(1));
      return ask(Step::Walk, StoreVerb::Get, epoch_key(number_));
    case Step::Walk:
      return walk(reply);
    case Step::Gather:
      return gather(reply);
    case Step::Found:
    case Step::Await:
      return take(reply);
  }
}

void Admission::walk(const StoreReply& reply) {
  if (reply.value) return take(reply);
  settle();
}

// The search may pass epochs that are no longer the newest. A worker that finds itself in one of
// them is admitted: if the members have moved on, their next epoch tells.
void Admission::take(const StoreReply& reply) {
  if (!reply.value) throw Error(ErrorCode::Protocol, "the store lost an epoch");
  latest_ = decode_epoch(*reply.value);
  if (latest_.contains(input_.self.rank)) {
    is_admitted_ = true;
    return;
  }
  number_ = latest_.number() + 1;
  ask(Step::Walk, StoreVerb::Get, epoch_key(number_));
}

bool Admission::may_found() const {
  if (latest_.number() == 0) return true;
  return input_.is_abandoned && input_.is_abandoned(latest_);
}

void Admission::settle() {
  if (may_found()) return ask(Step::Gather, StoreVerb::List, std::string(kPresencePrefix));
  ask(Step::Await, StoreVerb::Wait, epoch_key(latest_.number() + 1));
}

void Admission::gather(const StoreReply& reply) {
  const Presence presence = presence_in(reply.items);
  // The store may not have noticed yet that the sessions of dead members have ended.
  const auto count =
      std::count_if(presence.workers.begin(), presence.workers.end(), [&](const auto& entry) {
        return !latest_.contains(entry.first) && !latest_.has_dismissed(entry.first);
      });
  if (!presence.workers.contains(input_.self.rank)) {
    return ask_swap(Step::Announce, worker_key(input_.self.rank), record_, Lifetime::Session);
  }
  const int size =
      std::clamp(presence.wanted.value_or(input_.first_size), input_.least, input_.most);
  if (count >= (is_late_ ? input_.least : size)) {
    const Epoch epoch = propose_first(latest_, presence, input_.most);
    return ask_swap(Step::Found, epoch_key(epoch.number()), encode(epoch), Lifetime::Job);
  }
  if (!is_late_) return ask(Step::Await, StoreVerb::Wait, epoch_key(latest_.number() + 1));
  std::vector<int> missing;
  for (int worker = 0; worker < input_.first_size; ++worker) {
    if (!presence.workers.contains(worker)) missing.push_back(worker);
  }
  // After a restart of the job the workers have other numbers, so only their count can be reported.
  const std::string who =
      latest_.number() == 0
          ? name_workers(missing) + " of " + std::to_string(input_.first_size)
          : std::to_string(size - count) + " of " + std::to_string(size) + " workers";
  fail(ErrorCode::Deadline, who + " did not come within " + name_seconds(waited_));
}

void Admission::on_timeout() {
  if (is_over() || step_ != Step::Await) return;
  settle();
}

void Admission::on_deadline(Duration waited) {
  TRIREME_CHECK(!is_over(), "a deadline after the admission");
  if (is_late_) {
    return fail(ErrorCode::Deadline, "the store did not answer within " + name_seconds(waited));
  }
  is_late_ = true;
  waited_ = waited;
  if (step_ == Step::Found) return;
  if (step_ != Step::Await || may_found()) {
    return ask(Step::Gather, StoreVerb::List, std::string(kPresencePrefix));
  }
  fail(ErrorCode::Deadline, "the members of epoch " + std::to_string(latest_.number()) +
                                " did not take worker " + std::to_string(input_.self.rank) +
                                " in within " + name_seconds(waited));
}

const Epoch& Admission::epoch() const {
  TRIREME_CHECK(is_over(), "the admission is not over");
  if (error_) throw error_->with_rank(input_.self.rank).with_operation("join");
  return latest_;
}

}  // namespace trireme::cluster::membership
