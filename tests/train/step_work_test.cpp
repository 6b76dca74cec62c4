// Goal:   the samples of replicas that a step left out are run by the replicas that were not, in
// the
//         next step, and none is run twice.
// Method: the work of both replicas of a small loader, which hold the positions of their samples;
//         one is left out.

#include "trireme/train/step_work.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/train/tiny_job.h"

namespace trireme::train {
namespace {

constexpr int kReplicas = 2;
const std::vector<int> kOwners{0, 1};

// A loader of 37 samples, 10 per step, one micro-batch for each replica.
std::shared_ptr<data::Loader> loader_of(int replica) {
  const data::Sets sets = data::memory::open_synthetic({.count = 37, .sizes = {6}});
  return std::make_shared<data::Loader>(data::Loader::Options{
      .source = sets.train, .batch = 10, .micro_batches = kReplicas, .mine = {replica}});
}

// The places in the global batch of all replicas' samples.
std::multiset<std::int64_t> places_in(StepWork& one, StepWork& other, std::int64_t& total) {
  std::multiset<std::int64_t> places;
  for (StepWork* work : {&one, &other}) {
    const data::StepBatches& batches = work->next(kOwners);
    total = batches.total;
    for (const data::Batch& batch : batches.batches) {
      const auto* begin = batch.places.const_data_ptr<std::int64_t>();
      places.insert(begin, begin + batch.count());
    }
  }
  return places;
}

TEST(StepWork, ReturnedSamplesRunOnceOnReplicasThatWereNotLeftOut) {
  StepWork one(loader_of(0));
  StepWork other(loader_of(1));
  std::int64_t total = 0;
  EXPECT_EQ(places_in(one, other, total).size(), 10U);
  EXPECT_EQ(one.take_back({}), 0);
  EXPECT_EQ(other.take_back({}), 0);
  EXPECT_TRUE(one.returned().empty());

  places_in(one, other, total);
  EXPECT_EQ(one.take_back({1}), 5);
  EXPECT_EQ(other.take_back({1}), 5);
  EXPECT_EQ(one.returned().size(), 1U);
  EXPECT_EQ(one.returned(), other.returned()) << "every replica knows all of them";
  const std::multiset<std::int64_t> places = places_in(one, other, total);
  EXPECT_EQ(total, 15);
  EXPECT_EQ(places.size(), 15U);
  EXPECT_EQ(std::set<std::int64_t>(places.begin(), places.end()).size(), 15U);
  EXPECT_TRUE(one.returned().empty());

  // The replica that ran them is left out now: they come back with its own.
  EXPECT_EQ(one.take_back({0}), 10);
  EXPECT_EQ(one.returned().size(), 2U);
}

TEST(StepWork, ReturnedSamplesOfACheckpointAreSharedByAllReplicas) {
  StepWork one(loader_of(0));
  StepWork other(loader_of(1));
  for (StepWork* work : {&one, &other}) {
    work->set_returned({{.epoch = 0, .samples = {.begin = 30, .end = 34}}});
  }
  EXPECT_EQ(one.next(kOwners).batches.back().count(), 7);
  EXPECT_EQ(other.next(kOwners).batches.back().count(), 7);
}

}  // namespace
}  // namespace trireme::train
