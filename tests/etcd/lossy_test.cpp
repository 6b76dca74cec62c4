// Goal:   a change is made exactly once, even if answers are lost, requests are repeated, and
//         copies of requests arrive after the call that sent them has returned.
// Method: a proxy in front of a real etcd that does this to randomly chosen requests (seeded).

#include <gtest/gtest.h>
#include <poll.h>

#include <future>
#include <map>

#include "tests/etcd/etcd_kind.h"
#include "tests/etcd/lossy_proxy.h"
#include "trireme/base/random.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/cluster/store/etcd/writer.h"

namespace trireme::cluster::etcd {
namespace {

using namespace std::chrono_literals;

class LossyEtcd : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::EtcdServer::program()) GTEST_SKIP() << EtcdKind::kMissing;
    proxy_.emplace(kind_.place().members.front(), [this](const std::string& path) {
      const std::lock_guard lock(mutex_);
      if (path != kTxnPath) return Fate::PassOn;
      const Fate fates[] = {Fate::PassOn, Fate::LoseAnswer, Fate::ArriveLate};
      const Fate fate = fates[random_.below(3)];
      ++counts_[fate];
      return fate;
    });
    EtcdPlace place = kind_.place();
    place.members = {proxy_->address()};
    store_.emplace(EtcdStore::Options{.place = place}, soon());
  }
  // Waits until all copies have arrived.
  void settle() {
    store_.reset();
    proxy_->finish();
    EXPECT_GT(counts_[Fate::LoseAnswer], 0);
    EXPECT_GT(counts_[Fate::ArriveLate], 0);
  }
  static Deadline soon() { return Deadline::after(30s); }

  EtcdKind kind_;
  std::mutex mutex_;
  Random random_{7};
  std::map<Fate, int> counts_;
  std::optional<LossyProxy> proxy_;
  std::optional<EtcdStore> store_;
};

TEST_F(LossyEtcd, NothingIsAddedTwice) {
  constexpr int kAdds = 25;
  std::vector<std::future<void>> threads;
  for (int t = 1; t <= 2; ++t) {
    threads.push_back(std::async(std::launch::async, [&, t] {
      for (int i = 0; i < kAdds; ++i) store_->add("n", t, soon());
    }));
  }
  for (auto& thread : threads) thread.get();
  settle();
  EXPECT_EQ(kind_.open()->get("n", soon()), to_bytes(std::to_string(3 * kAdds)));
}

// A copy of the first swap that arrives late would find the key absent again.
TEST_F(LossyEtcd, ASwapIsMadeOnceAndKnowsIt) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store_->compare_and_set("k", {}, bytes_of("1"), soon()).swapped) << i;
    ASSERT_FALSE(store_->compare_and_set("k", {}, bytes_of("2"), soon()).swapped) << i;
    ASSERT_TRUE(store_->compare_and_set("k", bytes_of("1"), {}, soon()).swapped) << i;
  }
  settle();
  EXPECT_EQ(kind_.open()->get("k", soon()), std::nullopt);
}

TEST_F(LossyEtcd, WhatWasSetLastStays) {
  const auto direct = kind_.open();
  for (int i = 0; i < 20; ++i) {
    store_->set("k", bytes_of(std::to_string(i)), soon());
    ASSERT_EQ(direct->get("k", soon()), to_bytes(std::to_string(i)));
    if (i % 4 != 3) continue;
    ASSERT_TRUE(store_->erase("k", soon()));
  }
  store_->set("k", bytes_of("last"), soon());
  settle();
  EXPECT_EQ(direct->get("k", soon()), to_bytes("last"));
}

}  // namespace
}  // namespace trireme::cluster::etcd
