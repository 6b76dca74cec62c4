// Goal:   each loss is reported once to the callback, whichever came first: the death, the epoch or
//         the callback; and the flag for a wanted change follows the store, also after the store
//         was gone.
// Method: direct calls of the book; the watch over a LocalStore, and over one that fails for a
//         while.

#include "trireme/cluster/membership/death_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "trireme/base/error.h"
#include "trireme/cluster/membership/presence_watch.h"
#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

Epoch epoch_of(std::uint64_t number, const std::vector<int>& workers) {
  std::vector<EpochMember> entries;
  for (const int worker : workers) {
    Member about;
    about.rank = worker;
    about.size = worker + 1;
    entries.push_back({worker, static_cast<int>(entries.size()), false, about});
  }
  return Epoch(number, std::move(entries));
}

TEST(DeathBook, ReportsEachMemberOnce) {
  DeathBook book;
  std::vector<std::string> told;
  book.report({1, "first"});
  book.on_gone(
      [&](const WorkerEnd& end) { told.push_back(std::to_string(end.worker) + " " + end.cause); });
  EXPECT_TRUE(told.empty()) << "worker 1 is not a member yet";
  EXPECT_TRUE(book.adopt(epoch_of(1, {0, 1, 2}), true));
  EXPECT_THAT(told, ElementsAre("1 first"));
  EXPECT_TRUE(book.has_lost());
  book.accuse(2, "silent");
  book.report({2, "died"});
  book.report({2, "again"});
  book.report({7, "a stranger"});
  EXPECT_THAT(told, ElementsAre("1 first", "2 silent"));
  EXPECT_EQ(book.cause_of(2), "silent");
  EXPECT_EQ(book.cause_of(0), std::nullopt);
  EXPECT_THAT(book.dead(), ElementsAre(1, 2, 7));
}

TEST(DeathBook, AWorkerThatLeftHasNotDied) {
  DeathBook book;
  book.report({.worker = 1, .cause = "it left", .has_left = true});
  book.report({.worker = 2, .cause = "died"});
  EXPECT_FALSE(book.has_died(0));
  EXPECT_FALSE(book.has_died(1));
  EXPECT_TRUE(book.has_died(2));
}

TEST(DeathBook, AnEpochWithADeadMemberIsNotAdopted) {
  DeathBook book;
  EXPECT_TRUE(book.adopt(epoch_of(1, {0, 1}), false));
  book.report({1, "died"});
  EXPECT_FALSE(book.adopt(epoch_of(2, {0, 1}), false));
  EXPECT_TRUE(book.has_lost());
  EXPECT_TRUE(book.adopt(epoch_of(2, {0}), false));
  EXPECT_FALSE(book.has_lost());
}

// A store that the test can make unavailable.
class Moody final : public Store {
 public:
  explicit Moody(LocalStore& store) : store_(store) {}
  std::atomic<bool> is_gone = false;
  std::atomic<bool> is_next_erase_late = false;

  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override {
    return there().watch(prefix, deadline);
  }

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override {
    const bool is_late = request.verb == StoreVerb::Erase && is_next_erase_late.exchange(false);
    if (is_late) throw Error(ErrorCode::Deadline, "late");
    return there().ask(std::move(request), deadline);
  }

 private:
  Store& there() {
    if (is_gone) throw Error(ErrorCode::PeerLost, "gone");
    return store_;
  }
  LocalStore& store_;
};

void announce(Store& store, int worker) {
  Member about;
  about.rank = worker;
  about.size = worker + 1;
  store.set(worker_key(worker), encode(about), Deadline::after(30s));
}

TEST(PresenceWatch, WantsAChangeWhenAWorkerWaitsAndThereIsRoom) {
  LocalStore store;
  PresenceWatch watch({.store = &store, .most = 3});
  watch.set_epoch(epoch_of(1, {0, 1}), {5}, {}, std::nullopt);
  announce(store, 0);
  announce(store, 5);
  EXPECT_FALSE(watch.wait_until_wanted(Deadline::after(50ms))) << "worker 5 is dead";
  announce(store, 6);
  EXPECT_TRUE(watch.wait_until_wanted(Deadline::after(30s)));
  watch.set_epoch(epoch_of(2, {0, 1, 4}), {5}, {}, std::nullopt);
  EXPECT_FALSE(watch.is_change_wanted()) << "there is no room for worker 6";
  store.set("wanted", bytes_of("2"), Deadline::after(30s));
  EXPECT_TRUE(watch.wait_until_wanted(Deadline::after(30s)));
  watch.set_epoch(epoch_of(3, {0, 1}), {5}, {}, std::nullopt);
  EXPECT_FALSE(watch.is_change_wanted()) << "worker 6 waits, but only two workers are wanted";
}

TEST(PresenceWatch, AStoreIsWatchedAgainAfterAnOutage) {
  LocalStore store;
  Moody moody(store);
  moody.is_gone = true;
  PresenceWatch watch({.store = &moody, .most = 3});
  watch.set_epoch(epoch_of(1, {0}), {}, {}, std::nullopt);
  announce(store, 1);
  EXPECT_FALSE(watch.wait_until_wanted(Deadline::after(50ms)));
  moody.is_gone = false;
  EXPECT_TRUE(watch.wait_until_wanted(Deadline::after(30s)));
}

TEST(PresenceWatch, ChoresWriteTheHintAndEraseOldReports) {
  LocalStore store;
  const Deadline deadline = Deadline::after(30s);
  for (const std::uint64_t number : {2, 3, 10}) store.set(report_key(number, 0), {}, deadline);
  PresenceWatch watch({.store = &store, .most = 3});
  watch.post_chores(10, 3);
  EXPECT_EQ(text_of(store.wait(kNewestKey, deadline)), "10");
  while (store.get(report_key(2, 0), deadline)) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(store.get(report_key(3, 0), deadline));
  EXPECT_TRUE(store.get(report_key(10, 0), deadline));
}

// Only by this does a stuck worker on another host learn that it was left out.
TEST(PresenceWatch, ChoresThatASlowStoreInterruptedAreRepeated) {
  LocalStore store;
  announce(store, 7);
  Moody moody(store);
  moody.is_next_erase_late = true;
  PresenceWatch watch({.store = &moody, .most = 3});
  watch.post_chores(2, 1, {7});
  const Deadline deadline = Deadline::after(30s);
  while (store.get(worker_key(7), deadline)) {
    ASSERT_FALSE(deadline.is_past());
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(moody.is_next_erase_late);
}

TEST(PresenceWatch, ChoresEraseRecordsOfDeadWorkers) {
  LocalStore store;
  announce(store, 7);
  announce(store, 8);
  PresenceWatch watch({.store = &store, .most = 3});
  watch.set_epoch(epoch_of(1, {0, 8}), {}, {}, std::nullopt);
  const Deadline deadline = Deadline::after(30s);
  ASSERT_TRUE(watch.wait_until_wanted(deadline)) << "worker 7 is announced";
  watch.post_chores(2, 1, {7});
  while (store.get(worker_key(7), deadline)) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(store.get(worker_key(8), deadline));
}

// Members on other hosts may learn only by this of a death whose session has not ended yet.
TEST(PresenceWatch, DetectedDeathsAreToldToMembersOnOtherHosts) {
  LocalStore store;
  std::atomic<int> detected = 0;
  PresenceWatch watch({.store = &store,
                       .most = 3,
                       .take_detected = [&]() -> std::vector<WorkerEnd> {
                         const int worker = detected.exchange(0);
                         if (worker == 0) return {};
                         return {{worker, "its process died"}};
                       },
                       .on_lost = [](const WorkerEnd&) {}});
  watch.set_epoch(epoch_of(1, {0, 1, 2}), {}, {2}, std::nullopt);
  detected = 1;
  const WorkerEnd end = decode_end(1, store.wait(end_key(1), Deadline::after(30s)));
  EXPECT_EQ(end.cause, "its process died");
  EXPECT_FALSE(end.has_left);
}

}  // namespace
}  // namespace trireme::cluster::membership
