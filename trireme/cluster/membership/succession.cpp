#include "trireme/cluster/membership/succession.h"

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/cluster/membership/records.h"

namespace trireme::cluster::membership {

Succession::Succession(Input input) : input_(std::move(input)), dead_(input_.dead) {
  TRIREME_CHECK(input_.current.contains(input_.worker), "worker ", input_.worker,
                " is not in epoch ", input_.current.number());
  TRIREME_CHECK(!dead_.contains(input_.worker), "worker ", input_.worker, " considers itself dead");
  if (input_.is_join_complete) {
    for (const EpochMember& entry : input_.current.members()) has_state_.insert(entry.worker);
  }
  const auto dismissed = input_.current.dismissed();
  carried_.insert(dismissed.begin(), dismissed.end());
  if (input_.takes_new) {
    ask(Step::Look, StoreVerb::List, std::string(kPresencePrefix));
  } else {
    propose_now();
  }
}

void Succession::ask(Step step, StoreVerb verb, std::string key) {
  step_ = step;
  request_ = {.verb = verb, .key = std::move(key)};
}

void Succession::ask_swap(Step step, std::string key, ByteView value) {
  ask(step, StoreVerb::Swap, std::move(key));
  request_.value = share(value);
}

// The next proposal is based on the epoch that was decided last.
void Succession::propose_now() {
  const Epoch& base = decided_.empty() ? input_.current : decided_.back();
  std::set<int> unwelcome = dead_;
  unwelcome.insert(stopped_.begin(), stopped_.end());
  std::set<int> dismissed = dismissed_;
  dismissed.insert(carried_.begin(), carried_.end());
  Epoch proposal = propose({.base = base,
                            .dead = unwelcome,
                            .has_state = has_state_,
                            .avoided = avoided_,
                            .dismissed = dismissed,
                            .presence = presence_ ? &*presence_ : nullptr,
                            .most = input_.most});
  for (const int worker : proposal.without(base)) {
    if (input_.cause_of && dead_.contains(worker)) {
      proposal.set_cause(worker, input_.cause_of(worker));
    }
  }
  ask_swap(Step::Propose, epoch_key(proposal.number()), encode(proposal));
}

void Succession::on_reply(const StoreReply& reply) {
  TRIREME_CHECK(!is_over(), "a reply to a decision that is over");
  if (reply.error) {
    error_ = Error(*reply.error, reply.error_text);
    return;
  }
  switch (step_) {
    case Step::Look:
      presence_ = presence_in(reply.items);
      return propose_now();
    case Step::Propose:
      return take(reply);
    case Step::Report:
      // The value in the store counts: other members may have read the report of an earlier
      // attempt.
      if (reply.value) reports_[input_.worker] = *reply.value;
      return ask(Step::Collect, StoreVerb::List, report_prefix(decided_.back().number()));
    case Step::Collect:
      return collect(reply);
    case Step::Await:
      if (dismissed_.erase(awaited_) > 0) {
        stopped_.insert(awaited_);
        return await_or_end();
      }
      if (reply.value) reports_[awaited_] = *reply.value;
      if (unreported().empty()) return await_or_end();
      return ask(Step::Collect, StoreVerb::List, report_prefix(decided_.back().number()));
    case Step::Peek:
      if (reply.value) return take(reply);
      return ask(Step::Collect, StoreVerb::List, report_prefix(decided_.back().number()));
    case Step::Retire:
      return ask_swap(Step::Farewell, farewell_key(input_.worker), {});
    case Step::Farewell:
      is_dismissed_ = true;
      error_ = Error(ErrorCode::Aborted,
                     "the job was made smaller: epoch " + std::to_string(decided_.back().number()) +
                         " goes on without worker " + std::to_string(input_.worker));
      return;
  }
}

void Succession::take(const StoreReply& reply) {
  if (!reply.value) throw Error(ErrorCode::Protocol, "the store lost an epoch");
  Epoch epoch = decode_epoch(*reply.value);
  const Epoch& base = decided_.empty() ? input_.current : decided_.back();
  if (epoch.number() != base.number() + 1) {
    throw Error(ErrorCode::Protocol, "epoch " + std::to_string(epoch.number()) +
                                         " where the one after " + std::to_string(base.number()) +
                                         " should be");
  }
  note_dismissed(epoch);
  reports_.clear();
  // Members that a skipped epoch leaves out may not have been seen dead by all members, so their
  // places are avoided.
  avoided_.merge(places_of(base));
  decided_.push_back(std::move(epoch));
  const Epoch& last = decided_.back();
  const std::optional<int> rank = last.rank_of(input_.worker);
  if (!rank && last.has_dismissed(input_.worker)) {
    return ask(Step::Retire, StoreVerb::Erase, worker_key(input_.worker));
  }
  if (!rank) {
    error_ = Error(ErrorCode::Aborted,
                   "epoch " + std::to_string(last.number()) + " goes on without worker " +
                       std::to_string(input_.worker) + ", which was declared dead");
    return;
  }
  const auto entries = last.members();
  if (std::any_of(entries.begin(), entries.end(),
                  [&](const EpochMember& entry) { return dead_.contains(entry.worker); })) {
    return propose_now();
  }
  if (last.member(*rank).is_new) {
    return ask(Step::Collect, StoreVerb::List, report_prefix(last.number()));
  }
  ask_swap(Step::Report, report_key(last.number(), input_.worker), input_.report);
}

void Succession::note_dismissed(const Epoch& epoch) {
  for (const int worker : epoch.dismissed()) {
    const bool is_known =
        dead_.contains(worker) || stopped_.contains(worker) || carried_.contains(worker);
    if (!is_known) dismissed_.insert(worker);
  }
}

void Succession::collect(const StoreReply& reply) {
  const Epoch& epoch = decided_.back();
  for (const StoreItem& item : reply.items) {
    const std::optional<int> worker = worker_in(item.key);
    if (!worker || !item.value) continue;
    const std::optional<int> rank = epoch.rank_of(*worker);
    if (rank && !epoch.member(*rank).is_new) reports_[*worker] = *item.value;
  }
  await_or_end();
}

std::vector<int> Succession::unreported() const {
  std::vector<int> workers;
  if (decided_.empty()) return workers;
  for (const EpochMember& entry : decided_.back().members()) {
    if (!entry.is_new && !reports_.contains(entry.worker)) workers.push_back(entry.worker);
  }
  return workers;
}

std::vector<int> Succession::awaited() const {
  std::vector<int> workers = unreported();
  workers.insert(workers.end(), dismissed_.begin(), dismissed_.end());
  std::sort(workers.begin(), workers.end());
  return workers;
}

void Succession::await_or_end() {
  const std::vector<int> workers = unreported();
  if (!workers.empty()) {
    // Each member waits for a different one of the missing reports. On average half of the other
    // reports arrive before it, so that the list is read few times, whatever the number of members.
    awaited_ = workers[static_cast<std::size_t>(input_.worker) % workers.size()];
    return ask(Step::Await, StoreVerb::Wait, report_key(decided_.back().number(), awaited_));
  }
  if (!dismissed_.empty()) {
    awaited_ = *dismissed_.begin();
    return ask(Step::Await, StoreVerb::Wait, farewell_key(awaited_));
  }
  is_agreed_ = true;
}

void Succession::on_death(int worker) {
  if (error_ || !dead_.insert(worker).second) return;
  TRIREME_CHECK(worker != input_.worker, "worker ", worker, " is told of its own death");
  dismissed_.erase(worker);
  if (step_ == Step::Look || step_ == Step::Retire || step_ == Step::Farewell) return;
  if (step_ == Step::Propose) return propose_now();
  if (decided_.back().contains(worker)) {
    is_agreed_ = false;
    return propose_now();
  }
  if (step_ == Step::Await && worker == awaited_) await_or_end();
}

void Succession::on_timeout() {
  if (is_over() || step_ != Step::Await) return;
  ask(Step::Peek, StoreVerb::Get, epoch_key(decided_.back().number() + 1));
}

const Epoch& Succession::epoch() const {
  TRIREME_CHECK(is_over(), "the next epoch is not decided yet");
  if (error_) throw error_->with_rank(input_.worker).with_operation("next epoch");
  return decided_.back();
}

}  // namespace trireme::cluster::membership
