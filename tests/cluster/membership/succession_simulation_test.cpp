// Goal:   whatever the network does, and whichever workers crash, join or are declared dead: for
//         every number there is at most one epoch, all its members hold the same one with the same
//         reports, all survivors end in the same last one, and no worker that was left out is in a
//         later one. No two epochs are active for one step: all continuing workers agree on which
//         epoch completed each step, and no worker completes a step twice. A live worker that was
//         left out may have completed the one step that was in flight, and no other.
// Method: thousands of seeds of a simulated world: delayed messages, clocks that are four times too
// fast or too slow, crashes at any point,
//         replacements, joining workers, a request for fewer workers, members on another host that
//         some members declare dead and others do not, a store that stops answering for a while,
//         and one that dies and is restarted from its log. A worker that overwrites epochs, and one
//         that forgets steps, show that the test detects such bugs.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "tests/cluster/membership/simulated_worker.h"
#include "trireme/base/build_info.h"
#include "trireme/testing/seeds.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using namespace trireme::testing;
using Failure = std::optional<std::string>;

enum class Flaw { None, Blind, Forgetful };

class Scene {
 public:
  Scene(std::uint64_t seed, Flaw flaw)
      : flaw_(flaw),
        network_({.seed = seed,
                  .lost = 0.05 * static_cast<double>(seed % 4),
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
    if (draw(3) == 0) later(draw(1500), [this] { restart_store(); });
    for (std::uint64_t i = draw(4); i > 0; --i) later(draw(1500), [this] { suspect(); });
    if (draw(4) == 0) later(draw(1500), [this] { request(); });
    network_.run_until(TimePoint{} + 20s);
    return failure_ ? failure_ : check();
  }

 private:
  static constexpr int kStage = 1000;  // a node for the timers of the scene itself

  std::uint64_t draw(std::uint64_t bound) { return network_.random().below(bound); }
  void later(std::uint64_t milliseconds, std::function<void()> action) {
    network_.after(kStage, std::chrono::milliseconds(milliseconds), std::move(action));
  }

  void add() {
    const int worker = static_cast<int>(workers_.size());
    workers_.push_back(std::make_unique<SimulatedWorker>(
        network_, SimulatedWorker::Options{
                      .worker = worker,
                      .host = worker % 2 == 0 ? "a" : "b",
                      .first_size = first_size_,
                      .last_epoch = last_epoch_,
                      .is_blind = flaw_ == Flaw::Blind,
                      .is_forgetful = flaw_ == Flaw::Forgetful,
                      .is_gone = [this](int other) { return is_gone(at(other)); },
                      .on_epoch = [this](SimulatedWorker& who) { look_at(who); },
                      .on_end = [this](const SimulatedWorker& who) { part_from(who); },
                      .on_vote = [this](const SimulatedWorker& who) { vote(who); },
                      .on_leaving = [this](const Epoch& epoch) { tell_of_leaving(epoch); },
                      .log_in = [this](const Epoch& epoch) { return log_in(epoch); },
                      .have_entered = [this](const Epoch& epoch) { return have_entered(epoch); },
                      .have_all_logs = [this](const Epoch& epoch) { return have_logs(epoch); }}));
    workers_.back()->start();
  }
  SimulatedWorker& at(int worker) const { return *workers_[static_cast<std::size_t>(worker)]; }

  // Its peers and the store notice, and usually a replacement is started.
  void crash(std::size_t index) {
    if (index >= workers_.size() || workers_[index]->has_crashed()) return;
    workers_[index]->crash();
    part_from(*workers_[index]);
    if (draw(4) > 0) later(draw(400), [this] { add(); });
  }
  void part_from(const SimulatedWorker& gone) {
    later(draw(300), [this, node = gone.node()] { server_.drop(node); });
    for (const auto& worker : workers_) {
      SimulatedWorker* other = worker.get();
      if (other != &gone) {
        later(draw(80), [other, number = gone.worker()] { other->notice(number); });
      }
    }
  }
  static bool is_gone(const SimulatedWorker& worker) {
    return worker.has_crashed() || worker.is_over();
  }
  void crash_all() {
    for (std::size_t i = workers_.size(); i > 0; --i) crash(i - 1);
    for (int i = 0; i < first_size_; ++i) later(draw(400), [this] { add(); });
  }
  // A member declares a live worker on the other host dead.
  void suspect() {
    if (workers_.empty()) return;
    SimulatedWorker& judge = *workers_[draw(workers_.size())];
    SimulatedWorker& judged = *workers_[draw(workers_.size())];
    if (judge.host() == judged.host() || judge.has_crashed() || judged.has_crashed()) return;
    suspected_.insert(judged.worker());
    judge.notice(judged.worker());
  }

  // No member continues until all members have voted; each is notified at its own time.
  void vote(const SimulatedWorker& who) {
    const Epoch& epoch = who.held().back();
    const std::size_t step = who.log()->size();
    std::set<int>& votes = votes_[{epoch.number(), step}];
    votes.insert(who.worker());
    if (static_cast<int>(votes.size()) < epoch.size()) return;
    for (const EpochMember& entry : epoch.members()) {
      later(draw(30), [&member = at(entry.worker), number = epoch.number(), step] {
        member.hear_of_step(number, step);
      });
    }
  }
  // Operations that it aborts end for the others too, and members that wait for it check the store.
  void tell_of_leaving(const Epoch& epoch) {
    for (const EpochMember& entry : epoch.members()) {
      later(draw(100),
            [&member = at(entry.worker), number = epoch.number()] { member.hear_of_next(number); });
    }
  }
  std::optional<StepLog> log_in(const Epoch& epoch) const {
    for (const EpochMember& entry : epoch.members()) {
      const SimulatedWorker& member = at(entry.worker);
      if (member.has_crashed() || member.is_over() || member.is_agreeing()) continue;
      if (member.held().empty() || member.held().back().number() != epoch.number()) continue;
      if (member.log()) return member.log();
    }
    return std::nullopt;
  }
  bool have_entered(const Epoch& epoch) const {
    return std::ranges::all_of(epoch.members(), [&](const EpochMember& entry) {
      const std::vector<Epoch>& held = at(entry.worker).held();
      return !held.empty() && held.back().number() >= epoch.number();
    });
  }
  bool have_logs(const Epoch& epoch) const {
    return std::ranges::all_of(epoch.members(), [&](const EpochMember& entry) {
      return at(entry.worker).log().has_value();
    });
  }

  void restart_store() {
    if (std::exchange(is_store_down_, true)) return;
    server_.crash();
    later(20 + draw(500), [this] {
      server_.restart();
      is_store_down_ = false;
      for (const auto& worker : workers_) {
        SimulatedWorker* one = worker.get();
        later(draw(150), [one] { one->reconnect(); });
      }
    });
  }
  void pause() {
    if (std::exchange(is_store_down_, true)) return;
    server_.pause();
    later(50 + draw(1000), [this] {
      server_.resume();
      is_store_down_ = false;
    });
  }
  void request() {
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

  // Called whenever a worker has entered an epoch.
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
    if (worker.complaint()) return fail(who + ": " + *worker.complaint());
    const EpochMember& entry = epoch.member(*epoch.rank_of(worker.worker()));
    if (count == 1 && !entry.is_new) beginnings_.insert(epoch.number());
    end_neighbours_left_out_by(worker);
    const int place = entry.place;
    for (const auto& other : workers_) {
      if (other.get() == &worker || other->has_crashed() || other->is_over()) continue;
      if (other->host() != worker.host()) continue;
      if (other->held().empty() || epoch.contains(other->worker())) continue;
      const Epoch& theirs = other->held().back();
      const int taken = theirs.member(*theirs.rank_of(other->worker())).place;
      const auto [from, to] = std::minmax({theirs.number(), epoch.number()});
      if (taken == place && is_same_memory(worker.host(), from, to)) {
        fail(who + " shares a place with worker " + std::to_string(other->worker()));
      }
    }
  }

  std::map<std::uint64_t, Epoch> decided() const {
    std::map<std::uint64_t, Epoch> all;
    for (const StoreMap::Change& change : server_.history()) {
      if (!change.key.starts_with("epoch/")) continue;
      Epoch epoch = decode_epoch(*change.value);
      all.emplace(epoch.number(), std::move(epoch));
    }
    return all;
  }
  // The workers of a host keep their memory as long as one of them is in the next epoch, too. If
  // none is, new workers of the host share no memory with earlier ones that may still live.
  bool is_same_memory(const std::string& host, std::uint64_t from, std::uint64_t to) const {
    const std::map<std::uint64_t, Epoch> all = decided();
    for (; from < to; ++from) {
      const bool is_kept =
          std::ranges::any_of(all.at(from).members(), [&](const EpochMember& entry) {
            return entry.about.host == host && all.at(from + 1).contains(entry.worker);
          });
      if (!is_kept) return false;
    }
    return true;
  }

  // A member kills those beside it that the others declared dead before it enters the epoch, also
  // if they have not heard yet of the epoch in which they met.
  void end_neighbours_left_out_by(const SimulatedWorker& worker) {
    const Epoch& epoch = worker.held().back();
    for (const int suspect : suspected_) {
      const SimulatedWorker& other = at(suspect);
      if (other.host() != worker.host() || is_gone(other) || epoch.contains(suspect)) continue;
      for (const auto& [number, before] : decided()) {
        if (number >= epoch.number()) break;
        if (!before.contains(suspect) || !before.contains(worker.worker())) continue;
        crash(static_cast<std::size_t>(suspect));
      }
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
      if (const Failure failure = check_steps(*worker)) return failure;
    }
    return std::nullopt;
  }

  // Compared with the survivors' logs; a restarted job does not know the steps before the restart.
  Failure check_steps(const SimulatedWorker& worker) const {
    if (worker.complaint()) return worker.complaint();
    if (!worker.log() || beginnings_.size() != 1) return std::nullopt;
    const std::size_t in_flight = worker.is_over() && !worker.log()->empty() ? 1 : 0;
    for (const auto& other : workers_) {
      if (other->has_crashed() || other->is_over() || !other->log()) continue;
      const std::size_t known = std::min(worker.log()->size() - in_flight, other->log()->size());
      if (std::equal(worker.log()->begin(),
                     worker.log()->begin() + static_cast<std::ptrdiff_t>(known),
                     other->log()->begin())) {
        continue;
      }
      return "workers " + std::to_string(worker.worker()) + " and " +
             std::to_string(other->worker()) + " disagree on which epoch completed a step";
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
      // A member that does not know may admit it again, which it never learns.
      const bool is_suspect = suspected_.contains(worker.worker());
      if (is_suspect && worker.error()->code() == ErrorCode::Aborted) return std::nullopt;
      if (!epoch || !epoch->has_dismissed(worker.worker())) {
        return who + " is alive but ended with " + worker.error()->what();
      }
      for (const auto& [number, bytes] : epochs_) {
        if (number >= epoch->number() && decode_epoch(bytes).contains(worker.worker())) {
          return who + " was dismissed and is in epoch " + std::to_string(number);
        }
      }
      return std::nullopt;
    }
    if (worker.is_agreeing()) return who + " never finished deciding the next epoch";
    if (worker.held().empty()) return std::nullopt;  // it still waits to be admitted
    const Epoch& epoch = worker.held().back();
    for (const EpochMember& entry : epoch.members()) {
      if (is_gone(at(entry.worker))) return who + " ended in an epoch with a dead member";
    }
    if (last.value_or(epoch.number()) != epoch.number()) return who + " ended in another epoch";
    last = epoch.number();
    if (epoch.number() < last_epoch_) return who + " stopped early";
    return std::nullopt;
  }

  const Flaw flaw_;
  int first_size_ = 1;
  std::uint64_t last_epoch_ = 1;
  SimulatedNetwork network_;
  SimulatedStoreServer server_;
  SimulatedStoreClient client_{network_, {.node = kStage + 1}};
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
  std::map<std::uint64_t, Bytes> epochs_;
  std::set<int> suspected_;                                               // although they live
  std::map<std::pair<std::uint64_t, std::size_t>, std::set<int>> votes_;  // by epoch and step
  std::set<std::uint64_t> beginnings_;  // epochs whose members had no job to join
  mutable std::map<std::uint64_t, std::map<int, Bytes>> reports_;
  bool is_store_down_ = false;
  Failure failure_;
};

TEST(SuccessionSimulation, EveryNumberHasOneEpochUnderEverySeed) {
  const int count = base::build_info().sanitizer == "OFF" ? 400 : 100;
  const auto failure = for_each_seed("SuccessionSimulation.Every*", count, [](std::uint64_t seed) {
    return Scene(seed, Flaw::None).run();
  });
  EXPECT_FALSE(failure) << *failure;
}

TEST(SuccessionSimulation, DetectsAWorkerThatOverwritesEpochs) {
  const auto failure =
      for_each_seed("SuccessionSimulation.DetectsAWorkerThatO*", 200,
                    [](std::uint64_t seed) { return Scene(seed, Flaw::Blind).run(); });
  EXPECT_TRUE(failure) << "the simulation did not detect the deliberate bug";
}

TEST(SuccessionSimulation, DetectsAWorkerThatForgetsSteps) {
  const auto failure =
      for_each_seed("SuccessionSimulation.DetectsAWorkerThatF*", 200,
                    [](std::uint64_t seed) { return Scene(seed, Flaw::Forgetful).run(); });
  ASSERT_TRUE(failure) << "the simulation did not detect the deliberate bug";
  EXPECT_NE(failure->find("was made in epoch"), std::string::npos) << *failure;
}

}  // namespace
}  // namespace trireme::cluster::membership
