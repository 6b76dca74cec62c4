// Goal:   a member on another host is given up when its record is gone or its heartbeats stop, is
//         reported once, and not because this process or the store was away.
// Method: handwritten keys and times; then whole memberships as threads that claim to be on two
//         hosts.

#include "trireme/cluster/membership/far_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <set>

#include "trireme/cluster/membership/membership.h"
#include "trireme/cluster/membership/presence_watch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Bytes kSomething = to_bytes("1");

TimePoint at(std::chrono::milliseconds since) {
  return TimePoint(100s) + since;
}

std::vector<int> lost_at(FarWatch& watch, std::chrono::milliseconds when) {
  std::vector<int> workers;
  for (const FarWatch::Lost& lost : watch.lost(at(when))) workers.push_back(lost.end.worker);
  return workers;
}

TEST(FarWatch, AMemberIsLostIfItsRecordStaysAway) {
  FarWatch watch(0s);
  EXPECT_FALSE(watch.has_members());
  watch.set_members({3, 4}, at(0ms));
  watch.note(worker_key(3), &kSomething, at(1ms));
  watch.note(worker_key(3), nullptr, at(100ms));
  watch.note(worker_key(9), nullptr, at(100ms));
  watch.note("wanted", nullptr, at(100ms));
  EXPECT_THAT(lost_at(watch, 349ms), IsEmpty());
  const auto lost = watch.lost(at(350ms));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].end.worker, 3);
  EXPECT_THAT(lost[0].end.cause, HasSubstr("session"));
  EXPECT_THAT(lost_at(watch, 10h), IsEmpty())
      << "a loss is reported once, and worker 4 sends no heartbeats";
}

TEST(FarWatch, AMemberIsLostIfItsRecordNeverAppeared) {
  FarWatch watch(0s);
  watch.set_members({3, 4}, at(0ms));
  watch.miss_absent({{4, Member{}}, {5, Member{}}}, at(0ms));
  watch.miss_absent({{4, Member{}}}, at(200ms));  // counted from the first time
  EXPECT_THAT(lost_at(watch, 250ms), ElementsAre(3));
}

TEST(FarWatch, AMemberIsNotLostIfItsRecordReturns) {
  FarWatch watch(0s);
  watch.set_members({3}, at(0ms));
  watch.note(worker_key(3), nullptr, at(100ms));
  watch.note(well_key(3), &kSomething, at(150ms));
  watch.note(worker_key(3), &kSomething, at(300ms));
  EXPECT_THAT(lost_at(watch, 400ms), IsEmpty());
  watch.note(worker_key(3), nullptr, at(500ms));
  EXPECT_THAT(lost_at(watch, 749ms), IsEmpty());
  EXPECT_THAT(lost_at(watch, 750ms), ElementsAre(3));
}

TEST(FarWatch, ASilentMemberIsLostUnlessThisProcessSlept) {
  FarWatch watch(1s);
  watch.set_members({1, 2}, at(0ms));
  for (int i = 1; i <= 10; ++i) {
    watch.note(well_key(1), &kSomething, at(i * 100ms));
    EXPECT_THAT(lost_at(watch, i * 100ms), IsEmpty());
  }
  watch.note(well_key(1), &kSomething, at(1001ms));
  EXPECT_THAT(lost_at(watch, 1001ms), ElementsAre(2));
  // There was no check for ten seconds, because this process slept.
  EXPECT_THAT(lost_at(watch, 11s), IsEmpty());
  for (auto when = 11s + 400ms; when <= 12s; when += 200ms) {
    EXPECT_THAT(lost_at(watch, when), IsEmpty());
  }
  EXPECT_THAT(lost_at(watch, 12001ms), ElementsAre(1));
}

TEST(FarWatch, ASleepDoesNotHideARecordThatWasErasedMeanwhile) {
  FarWatch watch(1s, 0s);
  watch.set_members({1}, at(0ms));
  EXPECT_THAT(lost_at(watch, 0ms), IsEmpty());
  watch.note(worker_key(1), nullptr, at(10s));
  EXPECT_THAT(lost_at(watch, 10s), ElementsAre(1));
}

TEST(FarWatch, AnEndIsReportedAtOnceWithItsCause) {
  FarWatch watch(1s);
  const Bytes left = encode(WorkerEnd{4, "it left", true});
  const Bytes died = encode(WorkerEnd{5, "its process died", false});
  watch.note(end_key(4), &left, at(0ms));
  watch.set_members({3, 4, 5}, at(0ms));
  watch.note(end_key(5), &died, at(0ms));
  watch.note(worker_key(5), nullptr, at(0ms));
  const auto lost = watch.lost(at(0ms));
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(lost[0].end.worker, 4);
  EXPECT_TRUE(lost[0].end.has_left);
  EXPECT_EQ(lost[1].end.cause, "its process died");
  EXPECT_FALSE(lost[1].end.has_left);
}

TEST(FarWatch, OnlyThoseThatItListensToAreSilent) {
  FarWatch watch(1s);
  watch.set_members({1, 2, 3}, at(0ms));
  watch.listen_to({1}, at(0ms));
  for (auto when = 400ms; when <= 1200ms; when += 400ms) {
    EXPECT_EQ(lost_at(watch, when).size(), when > 1s ? 1u : 0u);
  }
  watch.listen_to({2}, at(1200ms));
  EXPECT_THAT(lost_at(watch, 1600ms), IsEmpty()) << "it is listened to since a moment ago";
  EXPECT_THAT(lost_at(watch, 2000ms), IsEmpty());
  EXPECT_THAT(lost_at(watch, 2400ms), ElementsAre(2));
}

TEST(FarWatch, AProcessThatSleptBeforeItsFirstCheckAccusesNoMember) {
  FarWatch watch(1s);
  watch.set_members({1}, at(0ms));
  EXPECT_THAT(lost_at(watch, 3s), IsEmpty());
  EXPECT_THAT(lost_at(watch, 3400ms), IsEmpty());
}

TEST(FarWatch, AfterAStoreOutageAllTimersRestart) {
  FarWatch watch(1s);
  watch.set_members({1}, at(0ms));
  watch.note(worker_key(1), nullptr, at(100ms));
  watch.restart(at(200ms));
  EXPECT_THAT(lost_at(watch, 600ms), IsEmpty());
  EXPECT_THAT(lost_at(watch, 1000ms), IsEmpty());
  EXPECT_THAT(lost_at(watch, 1201ms), ElementsAre(1))
      << "the record did not return after the outage";
  watch.set_members({2}, at(1300ms));
  watch.add_members({2, 1}, at(1400ms));
  EXPECT_THAT(lost_at(watch, 1400ms), IsEmpty())
      << "worker 1 is a member of a new epoch and its timers restart";
}

TEST(FarWatch, AWithdrawnLossIsReportedAgainIfItIsConfirmed) {
  FarWatch watch(1s);
  watch.set_members({3}, at(0ms));
  watch.miss_absent({}, at(0ms));
  EXPECT_THAT(lost_at(watch, 250ms), ElementsAre(3));
  watch.take_back(3, /*is_there=*/false);  // not known yet
  EXPECT_THAT(lost_at(watch, 300ms), ElementsAre(3));
  watch.take_back(3, /*is_there=*/true);
  EXPECT_THAT(lost_at(watch, 700ms), IsEmpty());
  const auto lost = watch.lost(at(1001ms));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].sign, FarWatch::Sign::NoHeartbeat)
      << "its record exists, but it has sent no heartbeat";
}

// A worker that others admitted may have arrived after this worker had read the list, and before
// this worker was told to watch it: the list does not prove its death.
TEST(FarMembers, AWorkerThatArrivedAfterTheListWasReadIsNotLost) {
  LocalStore store;
  const auto other = store.open_session();
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> lost;
  const auto is_lost = [&](int worker, Duration longest) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, longest, [&] { return lost.contains(worker); });
  };
  PresenceWatch watch(
      {.store = &store, .worker = 4, .most = 8, .on_lost = [&](const WorkerEnd& end) {
         const std::lock_guard lock(mutex);
         lost.insert(end.worker);
         changed.notify_all();
       }});
  const auto epoch_of = [](std::uint64_t number, std::vector<int> workers) {
    std::vector<EpochMember> entries;
    for (const int worker : workers) entries.push_back({worker, worker, false, {.rank = worker}});
    return Epoch(number, entries);
  };
  // The watch has started when it reports a worker that never existed.
  watch.set_epoch(epoch_of(1, {4, 7}), {}, {7}, std::nullopt);
  ASSERT_TRUE(is_lost(7, 30s));
  other->set(worker_key(6), encode(Member{.rank = 6, .size = 8}), Deadline::after(30s),
             Lifetime::Session);
  ASSERT_TRUE(watch.wait_until_wanted(Deadline::after(30s))) << "worker 6 is announced";
  watch.set_epoch(epoch_of(2, {4, 6}), {}, {6}, Presence{});
  EXPECT_FALSE(is_lost(6, 3 * FarWatch::kReturn));
  EXPECT_FALSE(watch.is_change_wanted());
  other->set(worker_key(5), encode(Member{.rank = 5, .size = 8}), Deadline::after(30s));
  ASSERT_TRUE(watch.wait_until_wanted(Deadline::after(30s)));
  watch.set_epoch(epoch_of(3, {4, 6}), {}, {6}, Presence{});
  EXPECT_TRUE(watch.is_change_wanted())
      << "worker 5 still waits, although the older list does not contain it";
  other->erase(worker_key(6), Deadline::after(30s));
  EXPECT_TRUE(is_lost(6, 30s));
}

// A worker as a thread that claims to be on the host with this name.
struct FarWorker {
  FarWorker(LocalStore& whole, int number, int count, const char* host)
      : store(whole.open_session()),
        membership({.worker = number,
                    .first_size = count,
                    .store = store.get(),
                    .lookup = [host](const char* name) -> const char* {
                      return std::string_view(name) == "TRIREME_HOST" ? host : nullptr;
                    }}) {}
  std::unique_ptr<LocalStore> store;
  Membership membership;
};

TEST(FarMembers, TheOthersContinueWithoutALostHost) {
  LocalStore store;
  std::vector<std::unique_ptr<FarWorker>> workers;
  for (const auto& [number, host] : {std::pair(0, "a"), {1, "b"}, {2, "b"}}) {
    workers.push_back(std::make_unique<FarWorker>(store, number, 3, host));
  }
  const auto all = [&](auto action) {
    std::vector<std::future<void>> futures;
    for (const auto& worker : workers) {
      futures.push_back(std::async(std::launch::async, [&] { action(worker->membership); }));
    }
    for (auto& future : futures) future.get();
  };
  all([](Membership& membership) { membership.join(Deadline::after(30s)); });
  std::promise<std::string> told;
  workers[0]->membership.on_gone(
      [&](const WorkerEnd& end) { told.set_value(std::to_string(end.worker) + ": " + end.cause); });
  workers.pop_back();
  EXPECT_EQ(told.get_future().get(), "2: it left");
  all([](Membership& membership) {
    const Next next = membership.next(bytes_of("here"), {}, Deadline::after(30s));
    EXPECT_EQ(next.epoch.size(), 2);
    EXPECT_EQ(next.reports.size(), 2u);
    ASSERT_EQ(next.gone.size(), 1u);
    EXPECT_EQ(next.gone[0].worker, 2);
  });
}

TEST(Records, AProgressReportIsDecodedAsItWasEncoded) {
  const Liveness::Report report{
      .moves = 9, .waits = 7, .is_waiting = true, .step = Duration(1'500'000)};
  EXPECT_EQ(report_in_well(bytes_of(well_text(4, report))), report);
  for (const char* other : {"", "4", "4 9 7 1 0", "4 9 7 2 0 1", "x"}) {
    EXPECT_FALSE(report_in_well(bytes_of(other))) << other;
  }
}

}  // namespace
}  // namespace trireme::cluster::membership
