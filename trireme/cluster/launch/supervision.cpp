#include "trireme/cluster/launch/supervision.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace trireme::cluster::launch {
namespace {

std::string seconds_of(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", std::chrono::duration<double>(duration).count());
  return text;
}

std::string ordinal(int number) {
  constexpr std::array<const char*, 4> kWords{"", "first", "second", "third"};
  return number < 4 ? kWords[static_cast<std::size_t>(number)] : std::to_string(number) + "th";
}

}  // namespace

void Supervision::on_started(int worker, TimePoint now) {
  alive_[worker] = {.started = now, .round = round_};
}

void Supervision::forget(int worker) {
  alive_.erase(worker);
  adrift_.erase(worker);
  is_confirming_ = is_confirmed_ = false;
}

void Supervision::on_left(int worker, TimePoint now) {
  forget(worker);
  if (!alive_.empty() || !adrift_.empty() || is_done_) return;
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
  if (adrift_.contains(worker)) on_back(worker, now);
  const auto it = alive_.find(worker);
  if (it == alive_.end()) return;
  const Worker who = it->second;
  forget(worker);
  has_died_ = true;
  const bool may_others_follow = is_refusal && !members_.empty() && has_members();
  next_ = now + (may_others_follow ? kRefusalTime : kSettleTime);
  // Workers that are being cleared are expected to die.
  if (is_clearing_) return;
  only_refusals_ = only_refusals_ && is_refusal;
  has_refused_ = has_refused_ || (is_refusal && members_.empty());
  note_quick(worker, who, now);
}

void Supervision::on_adrift(int worker) {
  if (alive_.erase(worker) > 0) adrift_.insert(worker);
}

void Supervision::on_back(int worker, TimePoint now) {
  adrift_.erase(worker);
  // A death after this point has nothing to do with the worker's start.
  alive_[worker] = {.started = now - kQuickTime, .round = round_};
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
  if (members == members_) return;
  members_ = members;
  note_joined(members);
  is_confirmed_ = false;
  if (has_members() || alive_.empty() || is_done_) return;
  has_died_ = true;
  next_ = std::min(next_, now + kSettleTime);
}

void Supervision::confirm_members(const std::set<int>& members, TimePoint now) {
  members_ = members;
  is_confirmed_ = std::exchange(is_confirming_, false);
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

void Supervision::note_quick(int worker, const Worker& who, TimePoint now) {
  const Duration age = now - who.started;
  if (age >= kQuickTime && !who.is_late) {
    quick_count_ = 0;
    return;
  }
  if (who.round == quick_round_) return;
  quick_count_ = who.round == quick_round_ + 1 ? quick_count_ + 1 : 1;
  quick_round_ = who.round;
  quick_text_ = "worker " + std::to_string(worker) + (who.is_late ? " had not joined " : " died ") +
                seconds_of(age) + " after its start, the " + ordinal(quick_count_) + " in a row";
}

bool Supervision::has_members() const {
  if (members_.empty()) return !alive_.empty() || !adrift_.empty();
  return std::any_of(members_.begin(), members_.end(), [this](int worker) {
    return alive_.contains(worker) || adrift_.contains(worker);
  });
}

Decision Supervision::decide(TimePoint now) {
  if (is_ended_) return {};
  if (is_done_) {
    // The remaining workers joined too late: no member will ever admit them.
    if (alive_.empty() || has_members() || is_clearing_) return {};
    return clear();
  }
  if (std::optional<Decision> late = kill_late()) return *std::move(late);
  if (!has_died_) {
    // No worker died; more workers may be wanted than there are.
    const int missing = target() - alive();
    if (missing <= 0 || (alive_.empty() && adrift_.empty())) return {};
    ++round_;
    return {.kind = Decision::Kind::Start, .count = missing};
  }
  if (now < next_) return {};
  next_ = TimePoint::max();
  if (has_refused_) return end("a worker failed for a reason that a replacement would meet again");
  if (quick_count_ >= kQuickMax && elastic_.restarts_max < kUnboundedRestarts) {
    return end("crash loop: " + quick_text_);
  }
  if (!has_members()) {
    if (!alive_.empty()) return clear();
    // A worker that may be alive on an unreachable host would join the restarted job: wait for
    // on_back() or on_gone().
    if (!adrift_.empty()) return {};
    if (only_refusals_) {
      return end("every worker failed for a reason that a replacement would meet again");
    }
    // No host is reachable: wait for set_room().
    if (target() <= 0) return {};
    return start(Decision::Kind::StartAnew, target(), now);
  }
  has_died_ = false;
  const int missing = target() - alive();
  if (missing <= 0) return {};
  return start(Decision::Kind::Start, missing, now);
}

Decision Supervision::clear() {
  if (is_confirming_) return {};
  is_confirming_ = !is_confirmed_;
  if (is_confirming_) return {.kind = Decision::Kind::Confirm};
  is_clearing_ = true;
  return {.kind = Decision::Kind::Clear};
}

Decision Supervision::start(Decision::Kind kind, int count, TimePoint now) {
  const bool is_anew = kind == Decision::Kind::StartAnew;
  const auto needed = static_cast<std::size_t>(is_anew ? 1 : count);
  while (!restarts_.empty() && now - restarts_.front() > elastic_.restart_window) {
    restarts_.pop_front();
  }
  if (restarts_.size() + needed > static_cast<std::size_t>(elastic_.restarts_max)) {
    return end("restarts used up: " + std::to_string(restarts_.size()) + " within " +
               seconds_of(elastic_.restart_window) + ", and " + std::to_string(count) +
               (count == 1 ? " worker is" : " workers are") + " missing");
  }
  restarts_.insert(restarts_.end(), needed, now);
  ++round_;
  has_died_ = false;
  if (is_anew) {
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
