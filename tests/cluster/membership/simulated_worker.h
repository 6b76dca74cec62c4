// A worker of an elastic job on a node of a SimulatedNetwork: the real Admission and Succession
// over a simulated store, with deaths that are noticed sooner or later.

#pragma once

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

class SimulatedWorker {
 public:
  struct Options {
    int worker = 0;
    int first_size = 1;
    std::uint64_t last_epoch = 5;  // moves on by itself until it holds this one
    bool is_blind = false;         // the mistake: it overwrites what others have decided
    std::function<bool(int worker)> is_crashed{};
    std::function<void(SimulatedWorker&)> on_epoch{};
  };

  SimulatedWorker(testing::SimulatedNetwork& network, const Options& options)
      : network_(network), options_(options), client_(network, {.node = node()}) {}

  void start() {
    client_.start();
    Member self;
    self.rank = options_.worker;
    self.size = options_.worker + 1;
    self.pid = 1000 + options_.worker;
    admission_.emplace(Admission::Input{.self = self,
                                        .first_size = options_.first_size,
                                        .is_abandoned = [this](const Epoch& epoch) {
                                          for (const Seat& seat : epoch.seats()) {
                                            if (!options_.is_crashed(seat.worker)) return false;
                                          }
                                          return true;
                                        }});
    pump(*admission_);
  }

  void crash() {
    client_.crash();
    has_crashed_ = true;
  }

  // What a life page tells: only of those it watches.
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

  int node() const { return options_.worker + 1; }
  int worker() const { return options_.worker; }
  bool has_crashed() const { return has_crashed_; }
  bool has_started() const { return admission_.has_value(); }
  bool is_over() const { return error_.has_value(); }
  bool is_agreeing() const { return succession_ && !succession_->is_over(); }
  const std::optional<Error>& error() const { return error_; }
  const std::vector<Epoch>& held() const { return held_; }
  // By the number of the epoch in which they were exchanged.
  const std::map<std::uint64_t, std::map<int, Bytes>>& reports() const { return reports_; }
  // The last epoch that it has seen and that was without it.
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
    const StoreValue mine = request.value;
    client_.call(request, [this, turn, &machine, overwrites, mine](StoreReply reply) {
      if (turn != turn_) return;
      if (overwrites) reply.value = mine;
      machine.on_reply(reply);
      look_at_members();
      pump(machine);
    });
  }

  // Whoever is already dead when it should be watched is noticed at once.
  void look_at_members() {
    if (!is_agreeing() || succession_->decided().empty()) return;
    for (const Seat& seat : succession_->decided().back().seats()) {
      if (!options_.is_crashed(seat.worker) || !dead_.insert(seat.worker).second) continue;
      succession_->on_death(seat.worker);
      if (!is_agreeing()) return;
    }
  }

  template <class Machine>
  void finish(const Machine& machine) {
    try {
      held_.push_back(machine.epoch());
    } catch (const Error& error) {
      error_ = error;
      return;
    }
    if (succession_) reports_[held_.back().number()] = succession_->reports();
    options_.on_epoch(*this);
    bool has_dead = false;
    for (const Seat& seat : held_.back().seats()) {
      if (options_.is_crashed(seat.worker)) dead_.insert(seat.worker);
      has_dead = has_dead || dead_.contains(seat.worker);
    }
    if (has_dead) return begin_next();
    if (held_.back().number() >= options_.last_epoch) return;
    const std::uint64_t number = held_.back().number();
    const auto pause = std::chrono::milliseconds(network_.random().below(100));
    network_.after(node(), pause, [this, number] {
      if (!is_over() && !is_agreeing() && held_.back().number() == number) begin_next();
    });
  }

  void begin_next() {
    succession_.emplace(
        Succession::Input{.worker = options_.worker,
                          .current = held_.back(),
                          .dead = dead_,
                          .takes_new = network_.random().below(3) > 0,
                          .is_join_complete = network_.random().below(2) > 0,
                          .report = to_bytes(std::to_string(held_.back().number()) + " of " +
                                             std::to_string(options_.worker))});
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
  std::map<std::uint64_t, std::map<int, Bytes>> reports_;
  std::optional<Error> error_;
};

}  // namespace trireme::cluster::membership
