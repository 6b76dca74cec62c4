// Goal:   a full disk is reported at once, and training continues to the next checkpoint; damaged
//         checkpoints are reported, kept and skipped; a job with only damaged ones is refused. A
//         checkpoint that takes longer than the timeout of a collective stops no rank.
// Method: whole jobs in this process, with faults where a checkpoint is published, and with parts
//         of checkpoints spoiled before a job goes on; a writer that is slow by a timeout and a
//         half.

#include "trireme/train/job_checkpoints.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/train/trainer_fixture.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/train/report/checkpoint_meta.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Has no room for some of the checkpoints, counted from 1.
class FullAt : public Faults {
 public:
  explicit FullAt(std::vector<int> which) : which_(std::move(which)) {}
  void reached(FaultPoint point, int) override {
    if (point != checkpoint::format::kManifestWritten) return;
    if (std::ranges::find(which_, ++count_) == which_.end()) return;
    throw Error(ErrorCode::Exhausted, "no room");
  }

 private:
  std::vector<int> which_;
  int count_ = 0;
};

// Rank 0 publishes its first checkpoint only after this long.
class SlowWriter : public Faults {
 public:
  explicit SlowWriter(Duration length) : length_(length) {}
  void reached(FaultPoint point, int) override {
    if (point != checkpoint::kPartsMet || has_slept_.exchange(true)) return;
    std::this_thread::sleep_for(length_);
  }

 private:
  const Duration length_;
  std::atomic<bool> has_slept_ = false;
};

class KeeperTest : public TrainerTest {
 protected:
  KeeperTest() { is_reported_ = true; }

  void spoil(const std::string& folder, std::int64_t step) const {
    const fs::path part = checkpoint_at(folder, step) / "part-00000.safetensors";
    std::string bytes = read_file(part);
    bytes.back() ^= 4;
    write_file_atomically(part, bytes);
    ASSERT_FALSE(checkpoint::format::damage_in(checkpoint_at(folder, step)).empty());
  }

  // Claims more bytes in the file than a piece has room for, behind a checksum that fits.
  void forge(const std::string& folder, std::int64_t step) const {
    const fs::path path = checkpoint_at(folder, step) / "manifest.json";
    auto manifest = checkpoint::format::parse_manifest(read_file(path), "manifest");
    manifest.tensors[0].pieces[0].stored = {100'000'000};
    write_file_atomically(path, checkpoint::format::manifest_text(manifest));
  }

  // The message of the error that ends the job.
  std::string end_of_run(const std::string& folder, const Words& words, int ranks = 1) {
    try {
      run(folder, words, false, ranks);
    } catch (const Error& error) {
      return error.message();
    }
    ADD_FAILURE() << "it went on";
    return {};
  }

  ErrorCode code_of_run(const std::string& folder, const Words& words, bool is_resumed = false,
                        int ranks = 1) {
    try {
      run(folder, words, is_resumed, ranks);
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "it went on";
    return ErrorCode::Misuse;
  }

  const Words words_{"checkpoint.every=4", "checkpoint.keep=9", "train.logical_ranks=2"};
};

TEST_F(KeeperTest, AFullDiskIsSaidAndTheNextCheckpointTriesAnew) {
  FullAt faults({2});
  faults_ = &faults;
  EXPECT_EQ(run("full", words_).ending, TrainingOutcome::Done);
  EXPECT_EQ(newest("full").step(), 20);
  EXPECT_FALSE(fs::exists(checkpoint_at("full", 8)));
  EXPECT_TRUE(fs::exists(checkpoint_at("full", 12)));
  const std::string events = said("full", "events.jsonl");
  const std::size_t failed = events.find("\"event\":\"checkpoint failed\"");
  ASSERT_NE(failed, std::string::npos) << events;
  EXPECT_EQ(events.rfind("{\"step\":8,", failed), events.rfind('{', failed)) << events;
  // What is said to be there is on disk.
  for (std::size_t at = 0; (at = events.find("\"event\":\"checkpoint\"", at)) != events.npos;
       ++at) {
    const std::size_t begin = events.rfind("{\"step\":", at) + 8;
    EXPECT_TRUE(fs::exists(checkpoint_at("full", std::atoi(events.c_str() + begin)))) << events;
  }
  EXPECT_THAT(events, HasSubstr("\"event\":\"checkpoint\""));
  EXPECT_THAT(said("full", "screen"), HasSubstr("checkpoint of step 8 was not written"));
}

TEST_F(KeeperTest, TwoFailuresInARowEndTheJob) {
  FullAt faults({2, 3});
  faults_ = &faults;
  EXPECT_EQ(end_of_run("full", words_),
            "no room. Make sure that " + (at("full") / "checkpoints").string() +
                " can be written and has space; checkpoint.keep=N keeps fewer checkpoints");
  EXPECT_EQ(newest("full").step(), 4);
  EXPECT_THAT(said("full", "screen"), HasSubstr("checkpoint of step 8 was not written"));
  EXPECT_THAT(said("full", "screen"), Not(HasSubstr("step 12 was not written"))) << "it is thrown";
}

// Four on the way, one before the evaluation, and the last.
TEST_F(KeeperTest, TheLastOneMustBeWritten) {
  FullAt faults({6});
  faults_ = &faults;
  EXPECT_EQ(code_of_run("full", words_), ErrorCode::Exhausted);
  EXPECT_EQ(newest("full").step(), 20);
  EXPECT_FALSE(newest("full").score().has_value());
}

// Rank 0 waits for its writer in the second save; rank 1, whose part is written, waits for rank 0.
TEST_F(KeeperTest, AWriterSlowerThanTheTimeoutOfACollectiveStopsNoRank) {
  timeout_ = std::chrono::seconds(2);
  SlowWriter slow(timeout_ + timeout_ / 2);
  faults_ = &slow;
  EXPECT_EQ(run("slow", words_, false, 2).ending, TrainingOutcome::Done);
  for (const std::int64_t step : {4, 8, 20}) {
    EXPECT_TRUE(checkpoint::format::damage_in(checkpoint_at("slow", step)).empty()) << step;
  }
}

TEST_F(KeeperTest, DamagedOnesAreSaidAndSetAside) {
  run("whole", words_);
  for (const int ranks : {1, 2}) {
    const std::string folder = "hurt" + std::to_string(ranks);
    Words fewer = words_;
    fewer.emplace_back("train.steps=16");
    run(folder, fewer);
    spoil(folder, 16);
    forge(folder, 12);
    run(folder, words_, true, ranks);
    expect_same_end("whole", folder);
    for (const std::int64_t step : {12, 16}) {
      EXPECT_TRUE(fs::exists(checkpoint_at(folder, step).string() + ".damaged"));
      EXPECT_TRUE(checkpoint::format::damage_in(checkpoint_at(folder, step)).empty());
    }
    EXPECT_THAT(said(folder, "screen"), HasSubstr("damaged checkpoint: " + at(folder).string()));
    EXPECT_THAT(said(folder, "screen"), HasSubstr("continuing from step 8"));
    EXPECT_THAT(said(folder, "events.jsonl"), HasSubstr("checkpoint passed over"));
  }
}

// Behind a valid checksum, as a program that wrote nonsense, or a person, could leave it.
TEST_F(KeeperTest, ACheckpointWithAnImpossibleMetaIsPassedOver) {
  run("whole", words_);
  Words fewer = words_;
  fewer.emplace_back("train.steps=16");
  run("hurt", fewer);
  const fs::path path = checkpoint_at("hurt", 16) / "manifest.json";
  const auto written = checkpoint::format::parse_manifest(read_file(path), "manifest");
  const auto edit = [&](const char* name, const char* value) {
    auto meta = nlohmann::json::parse(written.meta);
    meta[name] = nlohmann::json::parse(value);
    auto manifest = written;
    manifest.meta = meta.dump();
    write_file_atomically(path, checkpoint::format::manifest_text(manifest));
  };
  const std::pair<const char*, const char*> edits[] = {
      {"step", "5"},     {"step", "\"x\""}, {"step", "1000000000000"},
      {"updates", "-3"}, {"data", "{}"},    {"returned", "[[0,-100,-90]]"},
      {"cursor", "-5"}};
  for (const auto& [name, value] : edits) {
    edit(name, value);
    const auto found =
        checkpoint::Checkpoint::newest_whole(path.parent_path().parent_path(), {}, check_job_meta);
    ASSERT_TRUE(found.checkpoint.has_value()) << name;
    EXPECT_EQ(found.checkpoint->step(), 12) << name << " = " << value;
  }
  run("hurt", words_, true);
  expect_same_end("whole", "hurt");
  EXPECT_THAT(said("hurt", "screen"), HasSubstr("cannot have cursor = -5"));
  EXPECT_THAT(said("hurt", "screen"), HasSubstr("continuing from step 12"));
}

TEST_F(KeeperTest, AJobWithOnlyDamagedCheckpointsIsRefused) {
  Words fewer = words_;
  fewer.emplace_back("train.steps=4");
  run("hurt", fewer);
  spoil("hurt", 4);
  const std::string metrics = said("hurt", "metrics.jsonl");
  for (const int ranks : {1, 2}) {
    EXPECT_EQ(code_of_run("hurt", words_, true, ranks), ErrorCode::InvalidInput);
  }
  EXPECT_TRUE(fs::exists(checkpoint_at("hurt", 4)));
  EXPECT_EQ(checkpoints_in(at("hurt")), 1);
  EXPECT_EQ(said("hurt", "metrics.jsonl"), metrics);
}

TEST_F(KeeperTest, ResumingWithoutACheckpointIsReported) {
  run("typo", words_, true);
  EXPECT_THAT(said("typo", "screen"), HasSubstr("beginning at step 0"));
  EXPECT_THAT(said("typo", "events.jsonl"), HasSubstr("nothing to resume"));
  run("fresh", words_);
  EXPECT_THAT(said("fresh", "screen"), Not(HasSubstr("beginning at step 0")));
}

}  // namespace
}  // namespace trireme::train
