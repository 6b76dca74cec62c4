// A worker of an elastic job on a node of a SimulatedNetwork: the real Admission and Succession
// over a simulated store, with deaths that are noticed sooner or later, and with workers that are
// declared dead although they live.
//
// Steps: in every epoch it votes for the step after the last one that it knows to be completed. A
//        step is completed when all members of the epoch have voted; each member is told so after a
//        while, unless it has left the epoch by then. A worker reports the completed steps that it
//        knows, and takes over those that others report.
// Store: a restarted store has lost its sessions: the worker reconnects, sets its session-bound
//        keys again, and repeats its request.

#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/cluster/membership/admission.h"
#include "trireme/cluster/membership/succession.h"
#include "trireme/testing/simulated_store.h"

namespace trireme::cluster::membership {

// Indexed by step: the number of the epoch that completed it.
using StepLog = std::vector<std::uint64_t>;

class SimulatedWorker {
 public:
  static constexpr std::size_t kSteps = 20;

  struct Options {
    int worker = 0;
    std::string host{};
    int first_size = 1;
    std::uint64_t last_epoch = 5;  // moves on by itself until it holds this one
    bool is_blind = false;         // the bug: it overwrites epochs that others have decided
    bool is_forgetful = false;     // the bug: it goes back to the shortest log that any member
                                   // reports
    std::function<bool(int worker)> is_gone{};
    std::function<void(SimulatedWorker&)> on_epoch{};
    std::function<void(const SimulatedWorker&)> on_end{};  // with an error
    std::function<void(const SimulatedWorker&)> on_vote{};
    // It leaves this epoch, or moves on before all members have met in it.
    std::function<void(const Epoch&)> on_leaving{};
    // The log of a member that holds this epoch and has a log.
    std::function<std::optional<StepLog>(const Epoch&)> log_in{};
    std::function<bool(const Epoch&)> have_entered{};  // all members
    std::function<bool(const Epoch&)> have_all_logs{};
  };

  SimulatedWorker(testing::SimulatedNetwork& network, const Options& options)
      : network_(network), options_(options), client_(network, {.node = node()}) {}

  void start() {
    client_.start();
    Member self;
    self.rank = options_.worker;
    self.pid = 1000 + options_.worker;
    self.host = options_.host;
    admission_.emplace(Admission::Input{.self = self,
                                        .first_size = options_.first_size,
                                        .is_abandoned = [this](const Epoch& epoch) {
                                          for (const EpochMember& entry : epoch.members()) {
                                            if (!options_.is_gone(entry.worker)) return false;
                                          }
                                          return true;
                                        }});
    pump(*admission_);
  }

  void crash() {
    client_.crash();
    has_crashed_ = true;
  }

  // Like a life page, it reports only workers that this one watches.
  void notice(int dead) {
    if (has_crashed_ || is_over() || !watches(dead) || !dead_.insert(dead).second) return;
    if (succession_ && !succession_->is_over()) {
      client_.abandon_all();
      succession_->on_death(dead);
      pump(*succession_);
    } else if (!held_.empty() && held_.back().contains(dead)) {
      begin_next();
    }
  }

  // An operation that another member aborted tells that it has left epoch `number`.
  void hear_of_next(std::uint64_t number) {
    if (has_crashed_ || is_over()) return;
    left_by_others_ = std::max(left_by_others_, number);
    if (!is_agreeing() && !held_.empty() && held_.back().number() == number) begin_next();
  }

  // All members of the epoch have voted for the step.
  void hear_of_step(std::uint64_t number, std::size_t step) {
    if (has_crashed_ || is_over() || is_agreeing() || !log_) return;
    if (held_.back().number() != number || log_->size() != step) return;
    if (const auto [made, is_first] = made_.try_emplace(step, number); !is_first) {
      complain(step, made->second, number);
    }
    log_->push_back(number);
    step_soon();
  }

  // Its connection to the store is gone.
  void reconnect() {
    if (has_crashed_ || is_over()) return;
    client_.reconnect();
    unsaid_ = session_keys_;
    if (is_agreeing()) {
      pump(*succession_);
    } else if (held_.empty()) {
      pump(*admission_);
    } else {
      say_again([] {});
    }
  }

  int node() const { return options_.worker + 1; }
  const std::string& host() const { return options_.host; }
  // Nothing until another member has sent it the state.
  const std::optional<StepLog>& log() const { return log_; }
  const std::optional<std::string>& complaint() const { return complaint_; }
  int worker() const { return options_.worker; }
  bool has_crashed() const { return has_crashed_; }
  bool has_started() const { return admission_.has_value(); }
  bool is_over() const { return error_.has_value(); }
  bool is_agreeing() const { return succession_ && !succession_->is_over(); }
  const std::optional<Error>& error() const { return error_; }
  const std::vector<Epoch>& held() const { return held_; }
  // By the number of the epoch in which they were exchanged.
  const std::map<std::uint64_t, std::map<int, Bytes>>& reports() const { return reports_; }
  // The last epoch that it has seen and that did not contain it.
  std::optional<Epoch> excluded_by() const {
    return is_over() && succession_ ? std::optional(succession_->decided().back()) : std::nullopt;
  }

 private:
  bool watches(int worker) const {
    if (!held_.empty() && held_.back().contains(worker)) return true;
    if (!is_agreeing()) return false;
    for (const Epoch& epoch : succession_->decided()) {
      if (epoch.contains(worker)) return true;
    }
    return false;
  }

  template <class Machine>
  void pump(Machine& machine) {
    const std::uint64_t turn = ++turn_;
    if (machine.is_over()) return finish(machine);
    if (!unsaid_.empty()) return say_again([this, &machine] { pump(machine); });
    StoreRequest request = machine.request();
    if (request.verb == StoreVerb::Wait) {
      const auto slice = std::chrono::milliseconds(20 + network_.random().below(40));
      network_.after(node(), slice, [this, turn, &machine] {
        if (turn != turn_) return;
        client_.abandon_all();
        machine.on_timeout();
        pump(machine);
      });
    }
    const bool overwrites =
        options_.is_blind && request.verb == StoreVerb::Swap && request.key.starts_with("epoch/");
    if (overwrites) request.verb = StoreVerb::Set;
    client_.call(request, [this, turn, &machine, overwrites, request](StoreReply reply) {
      if (turn != turn_) return;
      if (reply.error == ErrorCode::PeerLost) return reconnect();
      if (overwrites) reply.value = request.value;
      note_session(request);
      machine.on_reply(reply);
      tell_of_decided();
      look_at_members();
      pump(machine);
    });
  }

  // Repeats the keys that the store has lost, and then calls `then`.
  void say_again(std::function<void()> then) {
    if (unsaid_.empty()) return then();
    const std::uint64_t turn = ++turn_;
    StoreRequest request;
    request.verb = StoreVerb::Set;
    request.key = unsaid_.begin()->first;
    request.value = unsaid_.begin()->second;
    request.lifetime = Lifetime::Session;
    client_.abandon_all();
    client_.call(request, [this, turn, then, key = request.key](const StoreReply& reply) {
      if (turn != turn_) return;
      if (reply.error == ErrorCode::PeerLost) return reconnect();
      unsaid_.erase(key);
      say_again(then);
    });
  }

  void note_session(const StoreRequest& request) {
    if (request.verb == StoreVerb::Erase) session_keys_.erase(request.key);
    if (request.lifetime == Lifetime::Session && request.value) {
      session_keys_[request.key] = request.value;
    }
  }

  void tell_of_decided() {
    if (!succession_) return;
    for (; left_ + 1 < succession_->decided().size(); ++left_) {
      options_.on_leaving(succession_->decided()[left_]);
    }
  }

  // A member that is already dead when the watch starts is noticed at once.
  void look_at_members() {
    if (!is_agreeing() || succession_->decided().empty()) return;
    for (const EpochMember& entry : succession_->decided().back().members()) {
      if (!options_.is_gone(entry.worker) || !dead_.insert(entry.worker).second) continue;
      succession_->on_death(entry.worker);
      if (!is_agreeing()) return;
    }
  }

  template <class Machine>
  void finish(const Machine& machine) {
    try {
      held_.push_back(machine.epoch());
    } catch (const Error& error) {
      error_ = error;
      return options_.on_end(*this);
    }
    forget_left_out();
    if (succession_) {
      reports_[held_.back().number()] = succession_->reports();
      take_over(succession_->reports());
    } else if (!held_.back().member(*held_.back().rank_of(options_.worker)).is_new) {
      log_.emplace();
    }
    options_.on_epoch(*this);
    bool has_dead = false;
    for (const EpochMember& entry : held_.back().members()) {
      if (options_.is_gone(entry.worker)) dead_.insert(entry.worker);
      has_dead = has_dead || dead_.contains(entry.worker);
    }
    if (has_dead || held_.back().number() <= left_by_others_) return begin_next();
    step_soon();
    if (held_.back().number() >= options_.last_epoch) return;
    const std::uint64_t number = held_.back().number();
    const auto pause = std::chrono::milliseconds(network_.random().below(100));
    network_.after(node(), pause, [this, number] {
      if (!is_over() && !is_agreeing() && held_.back().number() == number) begin_next();
    });
  }

  // A worker that others declared dead counts as dead for this one too, as in Membership.
  void forget_left_out() {
    const Epoch& last = held_.back();
    std::vector<Epoch> before = succession_ ? succession_->decided() : std::vector<Epoch>{};
    if (held_.size() > 1) before.push_back(held_[held_.size() - 2]);
    std::set<int> dismissed;
    for (const Epoch& epoch : before) {
      dismissed.insert(epoch.dismissed().begin(), epoch.dismissed().end());
    }
    for (const Epoch& epoch : before) {
      for (const int worker : last.without(epoch)) {
        if (!dismissed.contains(worker)) dead_.insert(worker);
      }
    }
  }

  // Takes the longest log; all others must be prefixes of it.
  void take_over(const std::map<int, Bytes>& reports) {
    std::vector<StepLog> all;
    if (log_) all.push_back(*log_);
    for (const auto& [worker, report] : reports) {
      if (auto log = decode(report)) all.push_back(std::move(*log));
    }
    if (all.empty()) return;
    const auto is_shorter = [](const StepLog& a, const StepLog& b) { return a.size() < b.size(); };
    const StepLog& longest = *std::max_element(all.begin(), all.end(), is_shorter);
    for (const StepLog& log : all) {
      const auto differ = std::mismatch(log.begin(), log.end(), longest.begin());
      if (differ.first == log.end()) continue;
      complain(static_cast<std::size_t>(differ.first - log.begin()), *differ.first, *differ.second);
    }
    log_ = options_.is_forgetful ? *std::min_element(all.begin(), all.end(), is_shorter) : longest;
  }

  void complain(std::size_t step, std::uint64_t one, std::uint64_t other) {
    complaint_ = "step " + std::to_string(step) + " was made in epoch " + std::to_string(one) +
                 " and in epoch " + std::to_string(other);
  }

  void step_soon() {
    const std::uint64_t number = held_.back().number();
    const auto pause = std::chrono::milliseconds(5 + network_.random().below(20));
    network_.after(node(), pause, [this, number] {
      if (is_over() || is_agreeing() || held_.back().number() != number) return;
      if (!log_) log_ = options_.log_in(held_.back());
      if (!log_) return step_soon();
      if (log_->size() < kSteps) options_.on_vote(*this);
    });
  }

  static Bytes encode(const std::optional<StepLog>& log) {
    ByteWriter out;
    out.put<std::uint8_t>(log ? 1 : 0);
    if (log) {
      for (const std::uint64_t number : *log) out.put(number);
    }
    return std::move(out).take();
  }
  static std::optional<StepLog> decode(ByteView report) {
    ByteReader in(report);
    if (in.get<std::uint8_t>() == 0) return std::nullopt;
    StepLog log;
    while (in.remaining() > 0) log.push_back(in.get<std::uint64_t>());
    return log;
  }

  void begin_next() {
    options_.on_leaving(held_.back());
    left_ = 0;
    succession_.emplace(Succession::Input{
        .worker = options_.worker,
        .current = held_.back(),
        .dead = dead_,
        .takes_new = network_.random().below(3) > 0 && options_.have_entered(held_.back()),
        .is_join_complete = network_.random().below(2) > 0 && options_.have_all_logs(held_.back()),
        .report = encode(log_)});
    pump(*succession_);
  }

  testing::SimulatedNetwork& network_;
  const Options options_;
  testing::SimulatedStoreClient client_;
  std::optional<Admission> admission_;
  std::optional<Succession> succession_;
  std::set<int> dead_;
  std::uint64_t turn_ = 0;
  bool has_crashed_ = false;
  std::vector<Epoch> held_;
  std::optional<StepLog> log_;
  std::map<std::size_t, std::uint64_t> made_;       // by this worker: epoch by step
  std::map<std::string, StoreValue> session_keys_;  // bound to its session
  std::map<std::string, StoreValue> unsaid_;        // those of them that the store has lost
  std::optional<std::string> complaint_;
  std::uint64_t left_by_others_ = 0;  // the newest epoch that other members have left
  std::size_t left_ = 0;              // number of decided epochs that this worker has left
  std::map<std::uint64_t, std::map<int, Bytes>> reports_;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster::membership
