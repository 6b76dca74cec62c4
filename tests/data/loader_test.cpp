// Goal:   a loader returns the computed batches, for any number of threads and from any position;
//         it reuses its buffers, passes on errors of the source, and shuts down cleanly.
// Method: a source whose samples contain their number and key; batches are compared with Order and
//         SamplePlan.

#include "trireme/data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <semaphore>
#include <set>

#include "tests/data/counting_source.h"
#include "trireme/base/error.h"
#include "trireme/data/batch.h"
#include "trireme/data/source/source.h"
#include "trireme/data/step_buffer.h"

namespace trireme::data {
namespace {

std::shared_ptr<const Source> numbers(std::int64_t count) {
  return std::make_shared<CountingSource>(count);
}

const std::int64_t* longs(const at::Tensor& tensor) {
  return tensor.const_data_ptr<std::int64_t>();
}

// The whole content of a step, as numbers.
std::vector<std::int64_t> flat(const StepBatches& step) {
  std::vector<std::int64_t> all{step.at.epoch, step.at.cursor, step.total};
  for (const Batch& batch : step.batches) {
    for (const at::Tensor& tensor : {batch.input, batch.target, batch.places}) {
      all.insert(all.end(), longs(tensor), longs(tensor) + tensor.numel());
    }
  }
  return all;
}

TEST(Loader, GivesWhatOrderAndDealSay) {
  constexpr std::uint64_t kSeed = 5;
  Loader loader(
      {.source = numbers(23), .seed = kSeed, .batch = 7, .micro_batches = 3, .mine = {2, 0}});
  const Order order(kSeed, 23);
  const SamplePlan assign({.count = 23, .batch = 7, .micro_batches = 3});
  Position at;
  for (int step = 0; step < 10; ++step) {
    const StepBatches& got = loader.next();
    EXPECT_EQ(got.at, at);
    EXPECT_EQ(got.total, assign.total(at));
    ASSERT_THAT(got.micro_batches, ::testing::ElementsAre(2, 0));
    for (std::size_t i = 0; i < 2; ++i) {
      const Range places = assign.places(at, got.micro_batches[i]);
      const Batch& batch = got.batches[i];
      ASSERT_EQ(batch.count(), places.count());
      ASSERT_EQ(batch.input.size(0), places.count());
      for (std::int64_t row = 0; row < places.count(); ++row) {
        const std::int64_t sample = order.sample(at.epoch, at.cursor + places.begin + row);
        EXPECT_EQ(longs(batch.places)[row], places.begin + row);
        EXPECT_EQ(longs(batch.target)[row], sample);
        EXPECT_EQ(longs(batch.input)[2 * row], at.epoch);
        EXPECT_EQ(longs(batch.input)[2 * row + 1], static_cast<std::int64_t>(kSeed) + sample);
      }
    }
    at = assign.after(at);
    EXPECT_EQ(loader.position(), at);
  }
}

TEST(Loader, GivesTheSameWhateverItsThreads) {
  std::vector<std::vector<std::vector<std::int64_t>>> runs;
  for (int threads : {0, 1, 2, 5}) {
    for (int ahead : {1, 4}) {
      Loader loader({.source = numbers(1001),
                     .seed = 3,
                     .batch = 64,
                     .micro_batches = 2,
                     .mine = {0, 1},
                     .threads = threads,
                     .ahead = ahead});
      auto& run = runs.emplace_back();
      for (int step = 0; step < 40; ++step) run.push_back(flat(loader.next()));
    }
  }
  for (const auto& run : runs) EXPECT_EQ(run, runs.front());
}

// Which samples are left out depends only on the samples.
TEST(Loader, LeavesBadSamplesOutWhateverItsThreadsAndSlots) {
  const auto source = std::make_shared<CountingSource>(50, [](std::int64_t sample) {
    if (sample % 7 == 3) throw Error(ErrorCode::Corrupt, "sample " + std::to_string(sample));
  });
  EXPECT_THROW(Loader({.source = source, .batch = 50, .threads = 0}).next(), Error);
  source->skip_bad();
  std::vector<std::vector<std::int64_t>> runs;
  for (const int threads : {0, 3}) {
    for (const int micro_batches : {1, 4}) {
      std::vector<int> mine(static_cast<std::size_t>(micro_batches));
      std::iota(mine.begin(), mine.end(), 0);
      Loader loader({.source = source,
                     .seed = 3,
                     .batch = 20,
                     .micro_batches = micro_batches,
                     .mine = mine,
                     .threads = threads});
      auto& run = runs.emplace_back();
      std::int64_t skipped = 0, total = 0;
      for (int step = 0; step < 3; ++step) {
        const StepBatches& got = loader.next();
        total += got.total;
        for (const Batch& batch : got.batches) {
          skipped += batch.skipped;
          EXPECT_EQ(batch.input.size(0), batch.count());
          for (std::int64_t row = 0; row < batch.count(); ++row) {
            run.push_back(longs(batch.places)[row]);
            run.push_back(longs(batch.target)[row]);
            EXPECT_NE(longs(batch.target)[row] % 7, 3);
          }
        }
      }
      EXPECT_EQ(total, 50);
      EXPECT_EQ(skipped, 7);
      EXPECT_EQ(run.size(), 2U * 43);
    }
  }
  for (const auto& run : runs) EXPECT_EQ(run, runs.front());
  const Loader loader({.source = source, .seed = 3, .batch = 20, .threads = 0});
  const Batch again = loader.read({.epoch = 0, .samples = {0, 50}}, 5);
  EXPECT_EQ(again.skipped, 7);
  EXPECT_EQ(again.count(), 43);
}

// Every evaluation has a loader of its own.
TEST(Loader, NamesABadSampleOnceWhateverTheNumberOfLoaders) {
  const auto named = [](const std::shared_ptr<CountingSource>& source) {
    source->skip_bad();
    ::testing::internal::CaptureStderr();
    for (int evaluation = 0; evaluation < 3; ++evaluation) {
      Loader loader({.source = source, .batch = 25, .threads = 0});
      for (int step = 0; step < 4; ++step) loader.next();
    }
    return ::testing::internal::GetCapturedStderr();
  };
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto failing = [](int divisor) {
    return std::make_shared<CountingSource>(50, [divisor](std::int64_t sample) {
      if (sample % divisor == 0)
        throw Error(ErrorCode::Corrupt, "sample " + std::to_string(sample));
    });
  };
  const std::string few = named(failing(25));
  EXPECT_EQ(lines(few), 2) << few;
  const std::string many = named(failing(2));
  EXPECT_EQ(lines(many), 10) << many;
  EXPECT_THAT(many, ::testing::EndsWith(" (further ones are only counted)\n"));
}

TEST(Loader, SeeksAndRedealsInMidRun) {
  const Loader::Options options{
      .source = numbers(100), .batch = 10, .micro_batches = 4, .threads = 2};
  Loader loader(options);
  for (int i = 0; i < 3; ++i) loader.next();
  loader.seek({.epoch = 2, .cursor = 90});
  EXPECT_EQ(loader.position(), (Position{.epoch = 2, .cursor = 90}));
  EXPECT_EQ(loader.next().at, (Position{.epoch = 2, .cursor = 90}));
  loader.assign(4, {3, 1});
  EXPECT_EQ(loader.position(), (Position{.epoch = 3, .cursor = 0}));
  const std::vector<std::int64_t> got = flat(loader.next());

  Loader::Options fresh = options;
  fresh.mine = {3, 1};
  Loader other(fresh);
  other.seek({.epoch = 2, .cursor = 100});
  EXPECT_EQ(got, flat(other.next()));
}

TEST(Loader, UsesItsBuffersAgainUnlessTheyAreHeld) {
  Loader loader({.source = numbers(64), .batch = 8, .threads = 1, .ahead = 2});
  std::set<const void*> seen;
  for (int step = 0; step < 50; ++step) {
    seen.insert(loader.next().batches[0].input.const_data_ptr());
  }
  EXPECT_EQ(seen.size(), 3U);  // those read ahead, and the current one

  const at::Tensor kept = loader.next().batches[0].target;
  const std::vector<std::int64_t> before(longs(kept), longs(kept) + kept.numel());
  for (int step = 0; step < 20; ++step) loader.next();
  EXPECT_EQ(std::vector<std::int64_t>(longs(kept), longs(kept) + kept.numel()), before);
}

TEST(Loader, StepIsValidUntilTheNextAcrossSeekAndDeal) {
  Loader loader({.source = numbers(64), .batch = 8, .threads = 2, .ahead = 1});
  const StepBatches& step = loader.next();
  const std::vector<std::int64_t> before = flat(step);
  loader.seek({.epoch = 5, .cursor = 0});
  loader.assign(1, {});
  EXPECT_EQ(flat(step), before);
  EXPECT_TRUE(loader.next().batches.empty());
  loader.assign(1, {0});
  EXPECT_EQ(loader.next().batches.size(), 1U);
}

TEST(Loader, TellsWhatASourceThrew) {
  for (int threads : {0, 1, 3}) {
    auto source = std::make_shared<CountingSource>(100, [](std::int64_t sample) {
      if (sample == 42) throw Error(ErrorCode::Corrupt, "x.bin: at byte 7: torn");
    });
    Loader loader({.source = source, .batch = 10, .is_shuffled = false, .threads = threads});
    for (int step = 0; step < 4; ++step) loader.next();
    for (int times = 0; times < 2; ++times) {
      try {
        loader.next();
        FAIL() << "the failure was lost";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Corrupt);
        EXPECT_EQ(error.message(), "x.bin: at byte 7: torn");
      }
    }
    EXPECT_EQ(loader.position().cursor, 40);
    loader.seek({.epoch = 0, .cursor = 50});
    EXPECT_EQ(loader.next().at.cursor, 50);
  }
}

TEST(Loader, GivesUpOnASourceThatHangs) {
  std::binary_semaphore gate(0);
  auto source = std::make_shared<CountingSource>(4, [&](std::int64_t) {
    gate.acquire();
    gate.release();
  });
  Loader loader({.source = source, .batch = 2, .timeout = std::chrono::milliseconds(20)});
  try {
    loader.next();
    FAIL() << "it did not hang";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
  }
  EXPECT_GT(loader.seconds_waited(), -1);
  gate.release();
}

TEST(Loader, ReadsNoFurtherAheadThanItsBound) {
  std::atomic<int> reads = 0;
  auto source = std::make_shared<CountingSource>(1000, [&](std::int64_t) { ++reads; });
  {
    Loader loader({.source = source, .batch = 10, .threads = 3, .ahead = 2});
    loader.next();
  }
  EXPECT_LE(reads, 30);
}

TEST(Loader, EndsAtAnyMoment) {
  for (int steps = 0; steps < 30; ++steps) {
    Loader loader({.source = numbers(1000), .batch = 100, .threads = 3, .ahead = 3});
    for (int i = 0; i < steps % 5; ++i) loader.next();
    if (steps % 3 == 0) loader.seek({});
  }
}

TEST(Loader, CountsTheTimeThatItWaited) {
  auto slow = std::make_shared<CountingSource>(
      4, [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  Loader loader({.source = slow, .batch = 4, .threads = 0});
  loader.next();
  EXPECT_GE(loader.seconds_waited(), 0.004);
}

TEST(Loader, RefusesWhatItCannotDo) {
  EXPECT_THROW(Loader({.source = nullptr}), Error);
  EXPECT_THROW(Loader({.source = numbers(0)}), Error);
  EXPECT_THROW(Loader({.source = numbers(4), .micro_batches = 2, .mine = {2}}), Error);
  EXPECT_THROW(Loader({.source = numbers(4), .micro_batches = 2, .mine = {1, 1}}), Error);
  EXPECT_THROW(Loader({.source = numbers(4), .ahead = 0}), Error);
}

}  // namespace
}  // namespace trireme::data
