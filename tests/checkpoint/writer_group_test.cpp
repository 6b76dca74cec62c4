// Goal:   the parts of any number of ranks form one checkpoint without duplicates. An unfinished
//         save of a group is given up, reported and swept, and never mixed with another group's
//         save.
// Method: one Saver per rank in this process; missing ranks are never created or fail at a fault
//         point.

#include "trireme/checkpoint/writer_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/fair_part.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/record.h"
#include "trireme/checkpoint/saver.h"

namespace trireme::checkpoint {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kCounts[] = {0, 1, 13, 4099, 7};

std::vector<Piece> whole_pieces(double value) {
  State state;
  for (const std::int64_t count : kCounts) {
    state.add("w" + std::to_string(count), torch::arange(count).to(torch::kFloat) + value);
  }
  state.add("d", torch::full({3, 5}, value, at::kDouble));
  return state.pieces;
}

class WriterGroupTest : public ::testing::Test {
 protected:
  using Savers = std::vector<std::unique_ptr<Saver>>;

  Saver::Options options(WriterGroup writers, Duration wait = 60s) {
    return {.folder = folder_.path(),
            .job = job_,
            .writers = std::move(writers),
            .wait = wait,
            .faults = faults_};
  }
  Savers savers(int ranks, const std::string& tag) {
    Savers all;
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(std::make_unique<Saver>(options({rank, ranks, tag})));
    }
    return all;
  }
  // Rank 0 is last, so that it finds all parts; the parts of the other ranks complete in any order.
  static void save_all(Savers& all, std::int64_t step, double value) {
    const int ranks = static_cast<int>(all.size());
    for (int rank = ranks - 1; rank >= 0; --rank) save_one(*all[rank], rank, ranks, step, value);
  }
  static void save_one(Saver& saver, int rank, int ranks, std::int64_t step, double value) {
    saver.save({.pieces = fair_part(whole_pieces(value), rank, ranks), .meta = R"({"is":"mine"})"},
               step);
  }
  void expect_whole(std::int64_t step, double value, std::size_t parts) const {
    const auto path = folder_.path() / format::folder_name(step);
    EXPECT_THAT(format::damage_in(path), IsEmpty());
    const Checkpoint read = Checkpoint::open(path);
    for (const Piece& piece : whole_pieces(value)) {
      EXPECT_TRUE(at::equal(read.read(piece.name), piece.data)) << piece.name;
    }
    EXPECT_EQ(read.meta(), R"({"is":"mine"})");
    // The folder contains only the parts and the manifest.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}),
              static_cast<std::ptrdiff_t>(parts + 1));
  }
  std::size_t drafts() const { return format::drafts_in(folder_.path()).size(); }
  static std::string text_of(const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_{"crew"};
  std::string job_;
  Faults* faults_ = nullptr;
};

TEST_F(WriterGroupTest, AnyNumberOfRanksWritesOneCheckpoint) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    Savers all = savers(ranks, "c" + std::to_string(ranks));
    for (int round = 0; round < 2; ++round) {
      save_all(all, ranks, ranks + round);  // the second replaces the first
      for (auto& saver : all) saver->wait();
      expect_whole(ranks, ranks + round, static_cast<std::size_t>(ranks));
    }
    std::uint64_t bytes = 0;
    for (auto& saver : all) bytes += saver->figures().bytes;
    EXPECT_EQ(bytes, 2u * ((1 + 13 + 4099 + 7) * 4 + 15 * 8)) << "elements were written twice";
  }
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(WriterGroupTest, ARankThatNeverWritesIsNamedAtTheDeadline) {
  Saver first(options({0, 3, "a"}, 200ms));
  Saver second(options({1, 3, "a"}, 200ms));
  save_one(second, 1, 3, 5, 1);
  save_one(first, 0, 3, 5, 1);
  EXPECT_NO_THROW(second.wait());
  const auto ended = first.settle();
  ASSERT_TRUE(ended && ended->failure);
  EXPECT_FALSE(ended->is_given_up);
  EXPECT_THAT(text_of(ended->failure), HasSubstr("rank 2 did not write its part"));
  EXPECT_THAT(format::list_checkpoints(folder_.path()), IsEmpty());
  EXPECT_EQ(drafts(), 0u);
}

// Before the group changes, the waiting caller may already know that a rank died.
TEST_F(WriterGroupTest, APartOfALostRankIsNotWaitedFor) {
  Saver first(options({0, 2, "a"}, 60s));
  save_one(first, 0, 2, 1, 1);
  EXPECT_THROW(first.settle(Deadline::after(100ms), [] { return false; }), Error);
  const TimePoint begin = steady_clock().now();
  int asked = 0;
  const auto ended = first.settle(Deadline::after(60s), [&] { return ++asked == 3; });
  EXPECT_LT(steady_clock().now() - begin, 60s) << "its own deadline";
  ASSERT_TRUE(ended && ended->failure);
  EXPECT_TRUE(ended->is_given_up);
  EXPECT_EQ(drafts(), 0u);
  // A save with all its parts completes, even if a rank is lost.
  Saver second(options({1, 2, "a"}, 60s));
  second.regroup({1, 2, "b"});
  first.regroup({0, 2, "b"});
  save_one(second, 1, 2, 2, 1);
  second.wait();
  save_one(first, 0, 2, 2, 1);
  const auto whole = first.settle(Deadline::after(60s), [] { return true; });
  ASSERT_TRUE(whole && !whole->failure);
  expect_whole(2, 1, 2);
}

TEST_F(WriterGroupTest, TheNextGroupKeepsOnlyCompleteSaves) {
  for (const bool is_part_there : {false, true}) {
    const std::int64_t step = is_part_there ? 2 : 1;
    const std::string old = "old" + std::to_string(step), young = "new" + std::to_string(step);
    Saver first(options({0, 2, old}));
    save_one(first, 0, 2, step, 1);
    if (is_part_there) {
      Saver dying(options({1, 2, old}));
      save_one(dying, 1, 2, step, 1);
      dying.wait();
    }
    first.regroup({0, 1, young});
    const auto ended = first.settle();
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(ended->is_given_up, !is_part_there);
    EXPECT_EQ(ended->failure == nullptr, is_part_there);
    if (is_part_there) expect_whole(step, 1, 2);
    save_one(first, 0, 1, step, 2);
    first.wait();
    expect_whole(step, 2, 1);
    EXPECT_EQ(drafts(), 0u);
  }
}

// The old rank 0 and its lock are gone; its draft contains the parts of the surviving ranks.
TEST_F(WriterGroupTest, ANewRankZeroTakesOver) {
  job_ = "job";
  Savers all = savers(3, "old");
  save_all(all, 3, 1);
  for (auto& saver : all) saver->wait();
  all[0].reset();
  save_one(*all[1], 1, 3, 4, 1);
  save_one(*all[2], 2, 3, 4, 1);
  all[1]->regroup({0, 2, "new", 1});
  all[2]->regroup({1, 2, "new", 1});
  all.erase(all.begin());
  save_all(all, 4, 2);
  for (auto& saver : all) saver->wait();
  EXPECT_THAT(all[0]->swept(), ElementsAre(4));
  expect_whole(3, 1, 3);
  expect_whole(4, 2, 2);
  EXPECT_EQ(drafts(), 0u);
}

// Two living ranks exchange their indices: the former rank 0 releases the folder.
TEST_F(WriterGroupTest, ALeaderThatBecomesAnotherRankReleasesTheFolder) {
  job_ = "job";
  Savers all = savers(2, "old");
  save_one(*all[0], 0, 2, 1, 1);  // rank 1's part never arrives
  std::swap(all[0], all[1]);
  for (int rank = 0; rank < 2; ++rank) all[rank]->regroup({rank, 2, "new", 1});
  save_all(all, 2, 2);
  for (auto& saver : all) saver->wait();
  expect_whole(2, 2, 2);
  all[0]->remove_after(1);
  EXPECT_THAT(format::list_checkpoints(folder_.path()), IsEmpty());
  EXPECT_EQ(drafts(), 0u);
}

// Blocks a thread at a point until it is released, as SIGSTOP and SIGCONT do with a process.
class FreezeAt : public Faults {
 public:
  explicit FreezeAt(FaultPoint point) : point_(point) {}
  void reached(FaultPoint point, int) override {
    std::unique_lock lock(mutex_);
    if (!is_armed_ || point.name != point_.name) return;
    is_frozen_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_armed_; });
  }
  void arm() { set(true); }
  void thaw() { set(false); }
  bool wait_frozen() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, [&] { return is_frozen_; });
  }

 private:
  void set(bool is_armed) {
    const std::lock_guard lock(mutex_);
    is_armed_ = is_armed;
    changed_.notify_all();
  }

  const FaultPoint point_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_armed_ = false;
  bool is_frozen_ = false;
};

// The other ranks continue in the next epoch and write the same step and the next one. When the
// frozen rank 0 continues, it can neither replace their checkpoints nor apply its retention.
TEST_F(WriterGroupTest, AFrozenRankZeroDoesNotAffectALaterEpoch) {
  for (const FaultPoint point : {format::kPartHalfWritten, kPartsMet, format::kManifestWritten,
                                 format::kStaged, format::kPublished}) {
    SCOPED_TRACE(point.name);
    for (const auto& left : std::filesystem::directory_iterator(folder_.path())) {
      std::filesystem::remove_all(left.path());
    }
    job_ = "job";
    FreezeAt faults(point);
    Saver::Options frozen_options = options({0, 2, "old", 1});
    frozen_options.faults = &faults;
    frozen_options.retention = {.keep_last = 1, .keep_best = 0};
    Saver frozen(frozen_options);
    Saver other(options({1, 2, "old", 1}));
    for (const std::int64_t step : {1, 2}) {
      if (step == 2) faults.arm();
      save_one(other, 1, 2, step, 1);
      other.wait();
      save_one(frozen, 0, 2, step, 1);
      if (step == 1) frozen.wait();
    }
    ASSERT_TRUE(faults.wait_frozen());
    other.regroup({0, 1, "new", 2});
    for (const std::int64_t step : {2, 3}) {
      save_one(other, 0, 1, step, 5);
      EXPECT_NO_THROW(other.wait(Deadline::after(30s)));
    }
    faults.thaw();
    const auto ended = frozen.settle();
    ASSERT_TRUE(ended && ended->failure);
    EXPECT_TRUE(ended->is_given_up);
    EXPECT_THAT(text_of(ended->failure), HasSubstr("epoch 2 of this job writes"));
    expect_whole(1, 1, 2);
    expect_whole(2, 5, 1);
    expect_whole(3, 5, 1);
    // It cannot regain the folder either, although nothing is being written at this point.
    save_one(frozen, 0, 2, 4, 1);
    EXPECT_TRUE(frozen.settle()->is_given_up);
    EXPECT_THAT(format::list_checkpoints(folder_.path()), SizeIs(3));
    EXPECT_EQ(drafts(), 0u);
  }
}

class FailRankOne : public Faults {
 public:
  void reached(FaultPoint point, int rank) override {
    if (point == kPartWritten && rank == 1) throw Error(ErrorCode::Exhausted, "no room here");
  }
};

TEST_F(WriterGroupTest, AFailureOfAnyRankFailsTheCheckpoint) {
  FailRankOne faults;
  faults_ = &faults;
  Savers all = savers(2, "a");
  save_all(all, 1, 1);
  EXPECT_EQ(text_of(all[0]->settle()->failure),
            "rank 1 could not write its part: no room here [RemoteFailure]");
  EXPECT_THAT(text_of(all[1]->settle()->failure), HasSubstr("no room here"));
  EXPECT_THAT(format::list_checkpoints(folder_.path()), IsEmpty());
  for (int rank = 0; rank < 2; ++rank) {
    all[rank]->regroup({.rank = rank, .ranks = 2, .tag = "b", .workers = {4, 7}});
  }
  save_all(all, 2, 1);
  EXPECT_THAT(text_of(all[0]->settle()->failure), HasSubstr("worker 7 could not write its part"));
}

TEST_F(WriterGroupTest, AFailureFreesTheSpaceOfItsPartAndAppearsWithItsReason) {
  const auto draft = format::make_draft(folder_.path(), 1, "a-0");
  const auto part = draft / format::part_name(1);
  write_file_atomically(part, "half of a part");
  format::write_failure(draft, 1, "no room");
  EXPECT_FALSE(std::filesystem::exists(part));
  EXPECT_EQ(read_file(draft / "part-00001.failed"), "no room");
  // A disk that has no space for the reason either.
  write_file_atomically(draft / "part-00001.failed", "");
  try {
    format::read_record(draft, 1, {.id = "a-0"});
    ADD_FAILURE() << "there is no record";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "rank 1 could not write its part: writing " + part.string() +
                                   ": No space left on device");
  }
}

TEST_F(WriterGroupTest, RecordsOfAnotherPartAreRefused) {
  Saver saver(options({1, 2, "a"}));
  save_one(saver, 1, 2, 1, 1);
  saver.wait();
  const auto draft = format::make_draft(folder_.path(), 1, "a-0");
  EXPECT_FALSE(format::read_record(draft, 0, {.id = "a-0"}).has_value());
  ASSERT_TRUE(format::read_record(draft, 1, {.id = "a-0"}).has_value());
  EXPECT_THROW(format::read_record(draft, 1, {.id = "a-1"}), Error);
  std::filesystem::rename(draft / "part-00001.json", draft / "part-00002.json");
  EXPECT_THROW(format::read_record(draft, 2, {.id = "a-0"}), Error);
}

}  // namespace
}  // namespace trireme::checkpoint
