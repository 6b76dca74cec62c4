// Goal:   whatever the network does, whoever crashes and whoever comes: for every number there is
//         at most one epoch, all its members hold the same one with the same reports, all
//         survivors end in the same last one, and nobody who was left out is in a later one.
// Method: thousands of seeds of a simulated world: lost, delayed, doubled and reordered messages,
//         clocks that are four times too fast or too slow, crashes at any point, replacements,
//         joiners, a wish for fewer, a store that stops answering for a while. A worker that
//         overwrites epochs shows that the test would notice.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/cluster/membership/simulated_worker.h"
#include "trireme/base/build_info.h"
#include "trireme/testing/seeds.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using namespace trireme::testing;
using Failure = std::optional<std::string>;

class Scene {
 public:
  Scene(std::uint64_t seed, bool is_blind)
      : is_blind_(is_blind),
        network_({.seed = seed,
                  .lost = 0.05 * static_cast<double>(seed % 4),
                  .doubled = 0.1 * static_cast<double>(seed % 3),
                  .delay_max = seed % 2 == 0 ? Duration(2ms) : Duration(60ms),
                  .skew = seed % 5 == 0 ? 4.0 : 1.0}),
        server_(network_, 0) {}

  Failure run() {
    server_.start();
    network_.attach(kStage, [](int, ByteView) {});
    first_size_ = static_cast<int>(1 + draw(5));
    last_epoch_ = 2 + draw(6);
    for (int i = 0; i < first_size_; ++i) later(draw(100), [this] { add(); });
    for (std::uint64_t i = draw(3); i > 0; --i) later(draw(1500), [this] { add(); });
    for (std::uint64_t i = draw(5); i > 0; --i) {
      later(draw(1500), [this] { crash(draw(workers_.size() + 1)); });
    }
    if (draw(6) == 0) later(draw(1500), [this] { crash_all(); });
    if (draw(3) == 0) later(draw(1500), [this] { pause(); });
    if (draw(4) == 0) later(draw(1500), [this] { wish(); });
    network_.run_until(TimePoint{} + 20s);
    return failure_ ? failure_ : check();
  }

 private:
  static constexpr int kStage = 1000;  // a node of the scene's own, for its timers

  std::uint64_t draw(std::uint64_t bound) { return network_.random().below(bound); }
  void later(std::uint64_t milliseconds, std::function<void()> action) {
    network_.after(kStage, std::chrono::milliseconds(milliseconds), std::move(action));
  }

  void add() {
    workers_.push_back(std::make_unique<SimulatedWorker>(
        network_, SimulatedWorker::Options{
                      .worker = static_cast<int>(workers_.size()),
                      .first_size = first_size_,
                      .last_epoch = last_epoch_,
                      .is_blind = is_blind_,
                      .is_crashed = [this](int worker) { return at(worker).has_crashed(); },
                      .on_epoch = [this](SimulatedWorker& worker) { look_at(worker); }}));
    workers_.back()->start();
  }
  SimulatedWorker& at(int worker) const { return *workers_[static_cast<std::size_t>(worker)]; }

  // Its peers notice, the store notices, and mostly somebody comes in its place.
  void crash(std::size_t index) {
    if (index >= workers_.size() || workers_[index]->has_crashed()) return;
    SimulatedWorker& victim = *workers_[index];
    victim.crash();
    later(draw(300), [this, &victim] { server_.drop(victim.node()); });
    for (const auto& worker : workers_) {
      SimulatedWorker* other = worker.get();
      if (other != &victim) {
        later(draw(80), [other, &victim] { other->notice(victim.worker()); });
      }
    }
    if (draw(4) > 0) later(draw(400), [this] { add(); });
  }
  void crash_all() {
    for (std::size_t i = workers_.size(); i > 0; --i) crash(i - 1);
    for (int i = 0; i < first_size_; ++i) later(draw(400), [this] { add(); });
  }
  void pause() {
    server_.pause();
    later(50 + draw(1000), [this] { server_.resume(); });
  }
  void wish() {
    client_.start();
    StoreRequest request;
    request.verb = StoreVerb::Set;
    request.key = kWantedKey;
    request.value = share(bytes_of(std::to_string(1 + draw(4))));
    client_.call(request, [](const StoreReply&) {});
  }

  void fail(const std::string& text) {
    if (!failure_) failure_ = text;
  }

  // Asked whenever a worker has come to an epoch.
  void look_at(const SimulatedWorker& worker) {
    const std::string who = "worker " + std::to_string(worker.worker());
    const Epoch& epoch = worker.held().back();
    const std::string which = " epoch " + std::to_string(epoch.number());
    if (!epoch.contains(worker.worker())) return fail(who + " is not in its" + which);
    const std::size_t count = worker.held().size();
    if (count > 1 && worker.held()[count - 2].number() >= epoch.number()) {
      return fail(who + " went back to" + which);
    }
    if (const auto [it, is_new] = epochs_.try_emplace(epoch.number(), encode(epoch));
        it->second != encode(epoch)) {
      return fail(who + " has another" + which);
    }
    const int place = epoch.seat(*epoch.rank_of(worker.worker())).place;
    for (const auto& other : workers_) {
      if (other.get() == &worker || other->has_crashed() || other->is_over()) continue;
      if (other->held().empty() || epoch.contains(other->worker())) continue;
      const Epoch& theirs = other->held().back();
      const int taken = theirs.seat(*theirs.rank_of(other->worker())).place;
      if (taken == place)
        fail(who + " shares a place with worker " + std::to_string(other->worker()));
    }
  }

  Failure check() const {
    std::map<std::string, int> writes;
    for (const StoreMap::Change& change : server_.history()) {
      if (change.key.starts_with("epoch/") && ++writes[change.key] > 1) {
        return change.key + " was written twice";
      }
    }
    std::optional<std::uint64_t> last;
    for (const auto& worker : workers_) {
      if (const Failure failure = check_reports(*worker)) return failure;
      if (worker->has_crashed()) continue;
      if (const Failure failure = check_end(*worker, last)) return failure;
    }
    return std::nullopt;
  }

  Failure check_reports(const SimulatedWorker& worker) const {
    for (const auto& [number, reports] : worker.reports()) {
      const auto [it, is_new] = reports_.try_emplace(number, reports);
      if (it->second != reports) {
        return "the reports of epoch " + std::to_string(number) + " differ";
      }
    }
    return std::nullopt;
  }

  Failure check_end(const SimulatedWorker& worker, std::optional<std::uint64_t>& last) const {
    const std::string who = "worker " + std::to_string(worker.worker());
    if (worker.error()) {
      const std::optional<Epoch> epoch = worker.excluded_by();
      if (!epoch || !epoch->has_dismissed(worker.worker())) {
        return who + " lives and ended with " + worker.error()->what();
      }
      for (const auto& [number, bytes] : epochs_) {
        if (number >= epoch->number() && decode_epoch(bytes).contains(worker.worker())) {
          return who + " was dismissed and is in epoch " + std::to_string(number);
        }
      }
      return std::nullopt;
    }
    if (worker.is_agreeing()) return who + " never came to an agreement";
    if (worker.held().empty()) return std::nullopt;  // it still waits to be taken in
    const Epoch& epoch = worker.held().back();
    for (const Seat& seat : epoch.seats()) {
      if (at(seat.worker).has_crashed()) return who + " ended beside a dead one";
    }
    if (last.value_or(epoch.number()) != epoch.number()) return who + " ended in another epoch";
    last = epoch.number();
    if (epoch.number() < last_epoch_) return who + " stopped early";
    return std::nullopt;
  }

  const bool is_blind_;
  int first_size_ = 1;
  std::uint64_t last_epoch_ = 1;
  SimulatedNetwork network_;
  SimulatedStoreServer server_;
  SimulatedStoreClient client_{network_, {.node = kStage + 1}};
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
  std::map<std::uint64_t, Bytes> epochs_;
  mutable std::map<std::uint64_t, std::map<int, Bytes>> reports_;
  Failure failure_;
};

TEST(SuccessionSimulation, EveryEpochIsOneUnderEverySeed) {
  const int count = base::build_info().sanitizer == "OFF" ? 1200 : 100;
  const auto failure = for_each_seed("SuccessionSimulation.Every*", count,
                                     [](std::uint64_t seed) { return Scene(seed, false).run(); });
  EXPECT_FALSE(failure) << *failure;
}

TEST(SuccessionSimulation, AWorkerThatOverwritesEpochsIsNoticed) {
  const auto failure = for_each_seed("SuccessionSimulation.AWorker*", 200,
                                     [](std::uint64_t seed) { return Scene(seed, true).run(); });
  EXPECT_TRUE(failure) << "the simulation is blind";
}

}  // namespace
}  // namespace trireme::cluster::membership
