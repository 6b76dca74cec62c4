#include "trireme/cluster/membership/admission.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/cluster/membership/proposal.h"
#include "trireme/cluster/rank_names.h"
#include "trireme/cluster/store/advance.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 1s;  // to find out which workers did not arrive
// How often a wait for the first epoch is interrupted: for workers that look whether all members of
// the newest epoch are dead, and for others.
constexpr Duration kSlice = 100ms;
constexpr Duration kSliceLong = 1s;

std::string describe(const Member& member) {
  return "pid " + std::to_string(member.pid) + " on " + member.host_name;
}

}  // namespace

Admission::Admission(Input input) : input_(std::move(input)), record_(encode(input_.self)) {
  TRIREME_CHECK(
      1 <= input_.least && input_.least <= input_.first_size && input_.first_size <= input_.most,
      "a job of ", input_.first_size, " workers, at least ", input_.least, " and at most ",
      input_.most);
  ask_charter();
}

// In a job that needs every worker, the charter ends with the worker that wrote it: workers compare
// themselves with each other again in gather(). An interrupted run then leaves only a count that is
// too large, with which more workers than the last one read all records.
void Admission::ask_charter() {
  ask_swap(Step::Charter, std::string(kCharterKey), record_,
           is_fixed() ? Lifetime::Session : Lifetime::Job);
}

void Admission::ask(Step step, StoreVerb verb, std::string key) {
  step_ = step;
  request_ = {.verb = verb, .key = std::move(key)};
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
      const std::string text = difference(input_.self, decode_member(*reply.value), input_.noun);
      if (!text.empty()) return give_up(ErrorCode::Mismatch, text);
      return ask_swap(Step::Announce, worker_key(input_.self.rank), record_, Lifetime::Session);
    }
    case Step::Announce:
      // A repeated request may find the record that the first one wrote.
      if (!reply.flag && *reply.value != record_) {
        return give_up(ErrorCode::Mismatch,
                       name() + " came twice: " + describe(decode_member(*reply.value)) + " and " +
                           describe(input_.self));
      }
      ask(Step::Count, StoreVerb::Add, std::string(kAnnouncedKey));
      request_.delta = 1;
      return;
    case Step::Count:
      is_last_ = is_late_ || reply.number >= input_.first_size;
      return is_last_ ? ask(Step::Hint, StoreVerb::Get, std::string(kNewestKey)) : await_next();
    case Step::Hint:
      if (reply.value) number_ = std::max<std::uint64_t>(1, number_in(*reply.value).value_or(1));
      return ask(Step::Walk, StoreVerb::Get, epoch_key(number_));
    case Step::Walk:
      return reply.value ? take(*reply.value) : settle();
    case Step::Wanted:
      return reply.value ? ask_records() : await_next();
    case Step::Gather:
      return gather(reply);
    case Step::Found:
    case Step::Await:
      if (!reply.value) throw Error(ErrorCode::Protocol, "the store lost an epoch");
      return take(*reply.value);
  }
}

// The search may pass epochs that are no longer the newest. A worker that finds itself in one of
// them is admitted: if the members have moved on, their next epoch tells.
void Admission::take(ByteView value) {
  // A worker that does not match is refused even if the others have met without it.
  if (refusal_ && refusal_->code() == ErrorCode::Mismatch) {
    error_ = refusal_;
    return;
  }
  if (const std::optional<Refusal> refusal = refusal_in(value)) {
    const bool is_ours = refusal->worker == input_.self.rank;
    // This process has written none, and its deadline has not passed.
    if (is_ours && !refusal_ && refusal->code == ErrorCode::Deadline) {
      return fail_as_other_run("its " + name() + " gave up");
    }
    const bool gave_up = refusal->code == ErrorCode::Deadline && !is_ours;
    const std::string who = input_.noun + " " + std::to_string(refusal->worker);
    return fail(refusal->code, (gave_up ? who + " gave up: " : "") + refusal->text);
  }
  latest_ = decode_epoch(value);
  if (const std::optional<int> rank = latest_.rank_of(input_.self.rank)) {
    is_admitted_ = encode(latest_.member(*rank).about) == record_;
    if (!is_admitted_) fail_as_other_run("its " + name() + " is not this process");
    return;
  }
  if (is_fixed()) return fail_as_other_run("it has no " + name());
  number_ = latest_.number() + 1;
  ask(Step::Walk, StoreVerb::Get, epoch_key(number_));
}

void Admission::fail_as_other_run(const std::string& why) {
  fail(ErrorCode::Mismatch, "the store holds the membership of another run (" + why +
                                "): every run needs a store or a folder of its own");
}

bool Admission::may_found() const {
  if (latest_.number() == 0) return true;
  return input_.is_abandoned && input_.is_abandoned(latest_);
}

void Admission::await_next() {
  ask(Step::Await, StoreVerb::Wait, epoch_key(latest_.number() + 1));
}

void Admission::ask_records() {
  ask(Step::Gather, StoreVerb::List, std::string(kPresencePrefix));
}

// There is no later epoch yet. Only workers that found the count complete read the records again:
// the store may have shown them too few, because it was restarted.
void Admission::settle() {
  const bool reads_records = is_last_ || latest_.number() > 0;
  if (reads_records && may_found()) return ask_records();
  if (reads_records || input_.least == input_.most) return await_next();
  ask(Step::Wanted, StoreVerb::Get, std::string(kWantedKey));
}

void Admission::gather(const StoreReply& reply) {
  const Presence presence = presence_in(reply.items);
  // The store may not have noticed yet that the sessions of dead members have ended.
  const auto count =
      std::count_if(presence.workers.begin(), presence.workers.end(), [&](const auto& entry) {
        return !latest_.contains(entry.first) && !latest_.has_dismissed(entry.first);
      });
  if (!presence.workers.contains(input_.self.rank)) return ask_charter();
  for (const auto& [worker, member] : presence.workers) {
    if (!is_fixed()) break;
    const std::string text = difference(input_.self, member, input_.noun);
    if (!text.empty()) return give_up(ErrorCode::Mismatch, text);
  }
  const int size =
      std::clamp(presence.wanted.value_or(input_.first_size), input_.least, input_.most);
  if (count >= (is_late_ ? input_.least : size)) {
    const Epoch epoch = propose_first(latest_, presence, input_.most);
    return ask_swap(Step::Found, epoch_key(epoch.number()), encode(epoch), Lifetime::Job);
  }
  // A worker that was counted may be gone again; the one that replaces it completes the count.
  if (!is_late_) return await_next();
  std::vector<int> missing;
  for (int worker = 0; worker < input_.first_size; ++worker) {
    if (!presence.workers.contains(worker)) missing.push_back(worker);
  }
  // After a restart of the job the workers have other numbers, so only their count can be reported.
  const std::string who =
      latest_.number() == 0
          ? name_workers(missing, input_.noun) + " of " + std::to_string(input_.first_size)
          : std::to_string(size - count) + " of " + std::to_string(size) + " " + input_.noun + "s";
  give_up(ErrorCode::Deadline, who + " did not come within " + name_seconds(waited_));
}

// In a job that needs every worker, the others cannot begin either. In other jobs the launcher
// decides what happens, and a refusal in place of an epoch would end workers that join later.
void Admission::give_up(ErrorCode code, const std::string& text) {
  if (!is_fixed()) return fail(code, text);
  refusal_ = Error(code, text);
  ask_swap(Step::Found, epoch_key(latest_.number() + 1),
           encode(Refusal{.worker = input_.self.rank, .code = code, .text = text}), Lifetime::Job);
}

std::optional<Duration> Admission::wait_slice() const {
  if (is_fixed() && !is_last_) return std::nullopt;
  return input_.is_abandoned ? kSlice : kSliceLong;
}

// Asks for the epoch, because if the store answers more slowly than waits are interrupted, no wait
// is ever answered.
void Admission::on_timeout() {
  if (is_over() || step_ != Step::Await) return;
  ask(Step::Walk, StoreVerb::Get, epoch_key(latest_.number() + 1));
}

void Admission::on_deadline(Duration waited) {
  TRIREME_CHECK(!is_over(), "a deadline after the admission");
  const bool is_waiting_for_members = step_ == Step::Await && latest_.number() > 0;
  if (is_late_ && !is_waiting_for_members) {
    error_ = refusal_ ? *refusal_
                      : Error(ErrorCode::Deadline,
                              "the store did not answer within " + name_seconds(waited));
    return;
  }
  if (!is_late_) waited_ = waited;
  is_late_ = true;
  if (step_ == Step::Found) return;
  if (may_found()) return ask_records();
  fail(ErrorCode::Deadline, "the members of epoch " + std::to_string(latest_.number()) +
                                " did not take " + name() + " in within " + name_seconds(waited_));
}

const Epoch& Admission::epoch() const {
  TRIREME_CHECK(is_over(), "the admission is not over");
  if (error_) throw error_->with_rank(input_.self.rank).with_operation("join");
  return latest_;
}

Epoch admit(Store& store, Admission::Input input, Deadline deadline, TimePoint begin) {
  // The time that the caller granted, without the delay until this thread was scheduled.
  const Duration granted = deadline.when() - begin;
  const int worker = input.self.rank;
  Admission admission(std::move(input));
  while (!admission.is_over()) {
    try {
      const Duration slice = admission.wait_slice().value_or(deadline.remaining());
      if (advance(store, admission, slice, deadline)) continue;
    } catch (const Error& error) {
      const std::string cause = error.cause().empty() ? "" : ": " + error.cause();
      throw error.with_rank(worker).with_operation("join").with_cause(error.operation() + cause);
    }
    admission.on_deadline(granted);
    deadline = Deadline::after(kGrace);
  }
  return admission.take_epoch();
}

}  // namespace trireme::cluster::membership
