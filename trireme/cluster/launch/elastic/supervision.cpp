#include "trireme/cluster/launch/elastic/supervision.h"

#include <algorithm>
#include <utility>

namespace trireme::cluster::launch {
void Supervision::forget(int worker) {
  alive_.erase(worker);
  unreachable_.erase(worker);
  members_.expire();
}

void Supervision::on_left(int worker, TimePoint now) {
  forget(worker);
  if (!alive_.empty() || !unreachable_.empty() || is_done_) return;
  has_died_ = true;
  only_refusals_ = false;
  next_ = now + kSettleTime;
}

void Supervision::on_finished(int worker) {
  forget(worker);
  if (alive() < wanted_ && !is_clearing_) is_done_ = true;
}

void Supervision::on_died(int worker, bool is_refusal, TimePoint now) {
  // A worker that died while its host was unreachable is reported when the host is back.
  if (unreachable_.contains(worker)) on_found(worker, now);
  const auto it = alive_.find(worker);
  if (it == alive_.end()) return;
  const Worker who = it->second;
  forget(worker);
  has_died_ = true;
  const bool may_others_follow = is_refusal && !members_.is_empty() && has_members();
  next_ = now + (may_others_follow ? kRefusalTime : kSettleTime);
  // Workers that are being cleared are expected to die.
  if (is_clearing_) return;
  only_refusals_ = only_refusals_ && is_refusal;
  has_refused_ = has_refused_ || (is_refusal && members_.is_empty());
  limit_.on_died(
      {.worker = worker, .round = who.round, .age = now - who.started, .is_late = who.is_late});
}

void Supervision::on_unreachable(int worker) {
  alive_.erase(worker);
  unreachable_.insert(worker);
}

void Supervision::on_found(int worker, TimePoint now) {
  unreachable_.erase(worker);
  // A death after this point has nothing to do with the worker's start.
  alive_[worker] = {.started = now - RestartLimit::kQuickTime, .round = round_};
  if (has_died_) next_ = std::min(next_, now + kSettleTime);
}

void Supervision::on_gone(int worker, TimePoint now) {
  forget(worker);
  only_refusals_ = false;
  if (has_members() || is_done_) return;
  has_died_ = true;
  next_ = now + kSettleTime;
}

void Supervision::set_members(const std::set<int>& members, TimePoint now) {
  if (!members_.set(members)) return;
  note_joined(members);
  if (has_members() || alive_.empty() || is_done_) return;
  has_died_ = true;
  next_ = std::min(next_, now + kSettleTime);
}

void Supervision::confirm_members(const std::set<int>& members, TimePoint now) {
  members_.confirm(members);
  next_ = std::min(next_, now);
}

void Supervision::set_announced(const std::set<int>& workers, TimePoint as_of) {
  announced_at_ = as_of;
  note_joined(workers);
}

void Supervision::note_joined(const std::set<int>& workers) {
  for (auto& [worker, who] : alive_) who.has_joined = who.has_joined || workers.contains(worker);
}

// While the store does not answer, it is unknown which workers have joined.
std::optional<Decision> Supervision::kill_late() {
  if (elastic_.join_max.count() == 0 || !announced_at_ || is_clearing_) return std::nullopt;
  Decision decision{.kind = Decision::Kind::Kill,
                    .why = "it did not join the job within " + seconds_of(elastic_.join_max) +
                           " of its start (8 x sync.timeout) and was killed; its program, its data "
                           "or a file system hangs"};
  for (auto& [worker, who] : alive_) {
    if (who.has_joined || who.is_late || *announced_at_ - who.started < elastic_.join_max) continue;
    who.is_late = true;
    decision.workers.insert(worker);
  }
  if (decision.workers.empty()) return std::nullopt;
  return decision;
}

void Supervision::set_room(int count, TimePoint now) {
  if (count == room_) return;
  room_ = count;
  if (has_died_) next_ = std::min(next_, now + kSettleTime);
}

bool Supervision::has_members() const {
  if (members_.is_empty()) return !alive_.empty() || !unreachable_.empty();
  return members_.has_any(
      [this](int worker) { return alive_.contains(worker) || unreachable_.contains(worker); });
}

Decision Supervision::decide(TimePoint now) {
  if (is_ended_) return {};
  if (is_done_) {
    // The remaining workers joined too late: no member will ever admit them.
    if (alive_.empty() || has_members() || is_clearing_) return {};
    return clear();
  }
  if (std::optional<Decision> late = kill_late()) return *std::move(late);
  if (!has_died_) return start_missing();
  if (now < next_) return {};
  next_ = TimePoint::max();
  return answer_deaths(now);
}

// No worker died; more workers may be wanted than there are.
int Supervision::target() const {
  return std::min({wanted_, elastic_.most, room_});
}

Decision Supervision::start_missing() {
  const int missing = target() - alive();
  if (missing <= 0 || (alive_.empty() && unreachable_.empty())) return {};
  ++round_;
  return {.kind = Decision::Kind::Start, .count = missing};
}

Decision Supervision::answer_deaths(TimePoint now) {
  if (has_refused_) return end("a worker failed for a reason that a replacement would meet again");
  if (std::string why = limit_.crash_loop(); !why.empty()) return end(std::move(why));
  if (has_members()) {
    has_died_ = false;
    const int missing = target() - alive();
    if (missing <= 0) return {};
    return start(Decision::Kind::Start, missing, now);
  }
  if (!alive_.empty()) return clear();
  // A worker that may be alive on an unreachable host would join the restarted job: wait for
  // on_found() or on_gone().
  if (!unreachable_.empty()) return {};
  if (only_refusals_) {
    return end("every worker failed for a reason that a replacement would meet again");
  }
  // No host is reachable: wait for set_room().
  if (target() <= 0) return {};
  return start(Decision::Kind::Restart, target(), now);
}

Decision Supervision::clear() {
  if (members_.should_confirm()) return {.kind = Decision::Kind::Confirm};
  if (!members_.is_confirmed()) return {};
  is_clearing_ = true;
  return {.kind = Decision::Kind::Clear};
}

Decision Supervision::start(Decision::Kind kind, int count, TimePoint now) {
  const bool is_restart = kind == Decision::Kind::Restart;
  std::string refusal = limit_.use(count, is_restart, now);
  if (!refusal.empty()) return end(std::move(refusal));
  ++round_;
  has_died_ = false;
  if (is_restart) {
    only_refusals_ = true;
    is_clearing_ = false;
    members_.clear();
  }
  return {.kind = kind, .count = count};
}

Decision Supervision::end(std::string why) {
  is_ended_ = true;
  return {.kind = Decision::Kind::End, .why = std::move(why)};
}

}  // namespace trireme::cluster::launch
