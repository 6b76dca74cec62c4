// Goal:   a rendezvous ends in time for everybody: with identical rosters, or with an error that
//         says why; whatever the network does and whoever crashes, the server included.
// Method: thousands of seeds of a simulated world, each with one of several troubles. A rank that
//         does not compare what others say shows that the test would notice.

#include <gtest/gtest.h>

#include <optional>

#include "trireme/base/build_info.h"
#include "trireme/cluster/meeting.h"
#include "trireme/testing/seeds.h"
#include "trireme/testing/simulated_store.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using namespace trireme::testing;

constexpr Duration kDeadline = 3s;
constexpr Duration kGrace = 1s;

enum class Trouble { None, Absent, Restart, ServerDies, ServerRestarts, OtherBuild, Twice };
constexpr int kTroubles = 7;

class Rank {
 public:
  Rank(SimulatedNetwork& network, int node, Member member)
      : network_(network),
        node_(node),
        member_(std::move(member)),
        client_(network, {.node = node}) {}

  void start() {
    ++member_.pid;  // another process each time
    member_.life.nonce[0] = network_.random().bits64();
    meeting_.emplace(7, member_);
    began_ = network_.clock().now();
    client_.start();
    network_.after(node_, kDeadline, [this] { on_deadline(); });
    network_.after(node_, kDeadline + kGrace, [this] { on_deadline(); });
    ask();
  }
  void crash() { client_.crash(); }
  bool is_up() const { return network_.is_up(node_); }
  bool is_over() const { return meeting_ && meeting_->is_over(); }
  Duration took() const { return ended_ - began_; }
  const Member& member() const { return member_; }

  std::optional<Roster> roster() const {
    try {
      return meeting_->roster();
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  std::optional<Error> error() const {
    try {
      static_cast<void>(meeting_->roster());
      return std::nullopt;
    } catch (const Error& error) {
      return error;
    }
  }

 private:
  void ask() {
    if (meeting_->is_over()) {
      ended_ = network_.clock().now();
      return;
    }
    client_.call(meeting_->request(), [this](const StoreReply& reply) {
      meeting_->on_reply(reply);
      ask();
    });
  }
  void on_deadline() {
    if (meeting_->is_over()) return;
    client_.abandon_all();
    meeting_->on_deadline(kDeadline);
    ask();
  }

  SimulatedNetwork& network_;
  const int node_;
  Member member_;
  SimulatedStoreClient client_;
  std::optional<Meeting> meeting_;
  TimePoint began_{};
  TimePoint ended_{};
};

class Scene {
 public:
  Scene(std::uint64_t seed, bool is_blind)
      : trouble_(static_cast<Trouble>(seed % kTroubles)),
        size_(static_cast<int>(1 + seed / kTroubles % 8)),
        network_({.seed = seed,
                  .lost = 0.05 * static_cast<double>(seed % 5),
                  .doubled = 0.1 * static_cast<double>(seed % 3),
                  .delay_max = seed % 2 == 0 ? Duration(2ms) : Duration(80ms)}),
        server_(network_, 0) {
    for (int rank = 0; rank < size_; ++rank) add(rank, "b1");
    if (trouble_ == Trouble::Twice) add(victim_, "b1");
    if (trouble_ == Trouble::OtherBuild && !is_blind) {
      ranks_[static_cast<std::size_t>(victim_)] =
          std::make_unique<Rank>(network_, 1 + victim_, member_of(victim_, "b2"));
    }
    // The mistake: it says that it has the same build though it has not.
    if (trouble_ == Trouble::OtherBuild && is_blind) expects_refusal_ = true;
  }

  std::optional<std::string> run() {
    server_.start();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (trouble_ == Trouble::Absent && static_cast<int>(i) == victim_) continue;
      later(network_.random().below(500), [this, i] { ranks_[i]->start(); });
    }
    make_trouble();
    network_.run_until(TimePoint{} + 20s);
    return check();
  }

 private:
  Member member_of(int rank, const std::string& build) const {
    Member member;
    member.rank = rank;
    member.size = size_;
    member.build = build;
    member.pid = 1000 * (rank + 1);
    return member;
  }
  void add(int rank, const std::string& build) {
    const int node = static_cast<int>(ranks_.size()) + 1;
    ranks_.push_back(std::make_unique<Rank>(network_, node, member_of(rank, build)));
  }
  void later(std::uint64_t milliseconds, std::function<void()> action) {
    if (!network_.is_up(kStage)) network_.attach(kStage, [](int, ByteView) {});
    network_.after(kStage, std::chrono::milliseconds(milliseconds), std::move(action));
  }

  void make_trouble() {
    const std::uint64_t when = network_.random().below(800);
    Rank& victim = *ranks_[static_cast<std::size_t>(victim_)];
    if (trouble_ == Trouble::Restart) {
      later(when, [this, &victim] {
        if (!victim.is_up()) return;  // it has not even come
        victim.crash();
        later(30, [this, &victim] {
          server_.drop(1 + victim_);
          victim.start();
        });
      });
    }
    if (trouble_ == Trouble::ServerDies || trouble_ == Trouble::ServerRestarts) {
      later(when, [this] { server_.crash(); });
    }
    if (trouble_ == Trouble::ServerRestarts) later(when + 100, [this] { server_.start(); });
  }

  std::optional<std::string> check() const {
    std::optional<Bytes> table;
    for (const auto& rank : ranks_) {
      if (!rank->is_up()) continue;
      const std::string who = "rank " + std::to_string(rank->member().rank);
      if (!rank->is_over()) return who + " never ended";
      if (rank->took() > kDeadline + kGrace) return who + " ended too late";
      const std::optional<Roster> roster = rank->roster();
      if (!roster) continue;
      if (table && *table != encode(*roster)) return who + " has another roster";
      table = encode(*roster);
    }
    for (const auto& rank : ranks_) {
      if (!rank->is_up()) continue;
      if (const auto text = judge(*rank, table.has_value())) return text;
    }
    if (expects_refusal_ && table) return "ranks of two builds met";
    return std::nullopt;
  }

  // Whether this rank may end as it did.
  std::optional<std::string> judge(const Rank& rank, bool has_table) const {
    const std::optional<Error> error = rank.error();
    if (!error) {
      const bool must_fail = trouble_ == Trouble::Absent ||
                             (trouble_ == Trouble::OtherBuild && size_ > 1 && !expects_refusal_);
      return must_fail ? std::optional<std::string>("it should not have worked") : std::nullopt;
    }
    const bool had_no_answer = error->message().starts_with("the store did not answer");
    if (had_no_answer && trouble_ == Trouble::ServerDies) return std::nullopt;
    if (trouble_ == Trouble::None) return std::string("failed without trouble: ") + error->what();
    if (trouble_ == Trouble::Absent) {
      const std::string missing = "rank " + std::to_string(victim_) + " of ";
      const bool names_it = error->message().find(missing) != std::string::npos;
      return names_it ? std::nullopt : std::optional<std::string>(error->what());
    }
    // Where some have met, a deadline that was an answer would be a second outcome.
    if (has_table && error->code() == ErrorCode::Deadline && !had_no_answer) {
      return std::string("some met, but ") + error->what();
    }
    return std::nullopt;
  }

  static constexpr int kStage = 1000;  // a node of the scene's own, for its timers

  const Trouble trouble_;
  const int size_;
  const int victim_ = size_ / 2;
  bool expects_refusal_ = false;
  SimulatedNetwork network_;
  SimulatedStoreServer server_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST(RendezvousSimulation, EndsInTimeAndAlikeUnderEverySeed) {
  const int count = base::build_info().sanitizer == "OFF" ? 3000 : 200;
  const auto failure = for_each_seed("RendezvousSimulation.Ends*", count,
                                     [](std::uint64_t seed) { return Scene(seed, false).run(); });
  EXPECT_FALSE(failure) << *failure;
}

TEST(RendezvousSimulation, ARankThatHidesItsBuildIsNoticed) {
  const auto failure = for_each_seed("RendezvousSimulation.ARank*", 200,
                                     [](std::uint64_t seed) { return Scene(seed, true).run(); });
  EXPECT_TRUE(failure) << "the simulation is blind";
}

}  // namespace
}  // namespace trireme::cluster
