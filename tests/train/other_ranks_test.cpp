// Goal:   a job that is resumed each time with another number of ranks and another synchronization
//         strategy ends with the bits of an uninterrupted job; JobCheckpoints continues to save
//         when ranks leave.
// Method: whole jobs of threads, stopped after a few steps each; then JobCheckpoints alone, of
//         which the first rank leaves.

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/train/job_checkpoints.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;

class OtherRanksTest : public TrainerTest {
 protected:
  OtherRanksTest() { is_reported_ = true; }
};

TEST_F(OtherRanksTest, FourThreeOneTwoIsOne) {
  const Words common{"train.logical_ranks=4", "checkpoint.every=3"};
  run("whole", common);
  struct Stretch {
    int ranks;
    const char* steps;
    const char* kind;
  };
  const Stretch stretches[] = {{4, "train.steps=5", "sync.kind=zero1"},
                               {3, "train.steps=10", "sync.kind=all_reduce"},
                               {1, "train.steps=13", "sync.kind=auto"},
                               {2, "train.steps=20", "sync.kind=zero3"}};
  for (const Stretch& stretch : stretches) {
    Words words = common;
    words.insert(words.end(), {stretch.steps, stretch.kind});
    run("cut", words, stretch.ranks != 4, stretch.ranks);
    const auto files = newest("cut").path();
    const auto parts = std::count_if(fs::directory_iterator(files), {}, [](const auto& entry) {
      return entry.path().extension() == ".safetensors";
    });
    EXPECT_EQ(parts, stretch.ranks);
  }
  expect_same_end("whole", "cut");
}

TEST_F(OtherRanksTest, SealedCheckpointsCanBeResumed) {
  const std::string key = at("key").string();
  net::Secret::generate().save(key);
  const Words common{"train.logical_ranks=2"};
  run("whole", common);
  Words words = common;
  words.insert(words.end(), {"checkpoint.compress=zstd", "checkpoint.key_file=" + key});
  Words fewer = words;
  fewer.emplace_back("train.steps=7");
  try {
    run("sealed", fewer, false, 2);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Unsupported) GTEST_SKIP() << error.what();
    throw;
  }
  EXPECT_THROW(run("sealed", common, true), Error);  // without its key
  Words plain = words;
  run("sealed", plain, true);
  const auto left = newest("whole");
  const auto right = checkpoint::Checkpoint::newest_whole(at("sealed") / "checkpoints",
                                                          {.key = net::Secret::from_file(key)});
  for (const std::string& name : left.names()) {
    EXPECT_TRUE(left.read(name).equal(right.checkpoint->read(name))) << name;
  }
}

TEST_F(OtherRanksTest, AKeeperGoesOnWithoutTheFirstRank) {
  auto groups = comm::connect_threads(2, {.epoch = 1});
  Reporter reporter(reporting("kept"));
  const auto options = [&](const comm::Group& group) {
    return JobCheckpoints::Options{
        .folder = at("kept") / "checkpoints", .group = group, .reporter = &reporter};
  };
  const auto state_at = [](std::int64_t step) {
    return checkpoint::State{.pieces = {}, .meta = Progress{.step = step}.to_json()};
  };
  std::unique_ptr<JobCheckpoints> survivor;
  testing::run_rank_threads(2, [&](int rank) {
    auto keeper = std::make_unique<JobCheckpoints>(options(groups[static_cast<std::size_t>(rank)]));
    checkpoint::State own = state_at(1);
    own.add("w" + std::to_string(rank), torch::ones({3}));
    keeper->save(own, 1, std::nullopt);
    keeper->finish();
    if (rank == 0) {
      // Lost between the barrier of the next save and its own part.
      groups[0].barrier({.label = "previous checkpoint"}).wait();
      return;
    }
    keeper->save(own, 2, std::nullopt);
    survivor = std::move(keeper);
  });
  survivor->regroup(comm::Group::solo(nullptr, 0, {.epoch = 2}));
  checkpoint::State all = state_at(3);
  for (const char* name : {"w0", "w1"}) all.add(name, torch::zeros({3}));
  survivor->save(all, 3, std::nullopt);
  survivor->finish();
  const auto found = survivor->newest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->step(), 3);
  EXPECT_FALSE(fs::exists(checkpoint_at("kept", 2)));
  EXPECT_TRUE(fs::exists(checkpoint_at("kept", 1)));
  survivor->look();
  EXPECT_THAT(said("kept", "events.jsonl"), HasSubstr("checkpoint given up"));
}

}  // namespace
}  // namespace trireme::train
