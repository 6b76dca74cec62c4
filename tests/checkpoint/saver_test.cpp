// Goal:   saved state is read back bitwise identical, at every size and type, as a whole or in
//         ranges; retention keeps the right checkpoints; background failures are reported and
//         damage nothing.
// Method: saves states into temporary folders and opens them again.

#include "trireme/checkpoint/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/scalar_type.h"
#include "trireme/checkpoint/snapshot.h"
#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> steps_in(const std::filesystem::path& folder) {
  std::vector<std::int64_t> steps;
  for (const auto& listed : format::list_checkpoints(folder)) steps.push_back(listed.step);
  return steps;
}

at::Tensor random_bits(std::vector<std::int64_t> sizes, at::ScalarType type) {
  if (type == at::kBool) return torch::randint(0, 2, sizes).to(type);
  return torch::randint(0, 100, sizes).to(type);
}

bool is_same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         at::equal(a.contiguous().view(-1).view(at::kByte),
                   b.contiguous().view(-1).view(at::kByte));
}

TEST(CheckpointSaver, EverySizeAndTypeIsReadBackBitwiseIdentical) {
  const TemporaryFolder folder("saver");
  State state{.pieces = {}, .meta = R"({"step":3})"};
  std::vector<at::Tensor> tensors;
  for (int i = 0; i < 15; ++i) {
    const at::ScalarType type = to_scalar_type(static_cast<format::StoredDType>(i));
    EXPECT_EQ(to_dtype(type), static_cast<format::StoredDType>(i));
    for (const std::vector<std::int64_t>& sizes :
         std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {7, 13}, {3, 0, 2}}) {
      tensors.push_back(random_bits(sizes, type));
      state.add("t" + std::to_string(tensors.size()), tensors.back());
    }
  }
  tensors.push_back(torch::randn({5, 7}).t());  // not contiguous
  state.add("t" + std::to_string(tensors.size()), tensors.back());
  Saver saver({.folder = folder.path()});
  saver.save(state, 3, 0.5);
  saver.wait();
  const auto newest = Checkpoint::newest_whole(folder.path());
  ASSERT_TRUE(newest.checkpoint.has_value());
  EXPECT_EQ(newest.checkpoint->meta(), state.meta);
  EXPECT_EQ(newest.checkpoint->step(), 3);
  EXPECT_EQ(newest.checkpoint->score(), 0.5);
  EXPECT_EQ(newest.checkpoint->names().size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = "t" + std::to_string(i + 1);
    if (tensors[i].numel() == 0) {
      EXPECT_EQ(newest.checkpoint->sizes(name), tensors[i].sizes().vec());
    } else {
      EXPECT_TRUE(is_same(newest.checkpoint->read(name), tensors[i])) << name;
    }
  }
}

TEST(CheckpointSaver, PiecesOfAnyLayoutAreReadInAnyOther) {
  const TemporaryFolder folder("saver");
  const at::Tensor whole = torch::randn({11, 17});
  State state;
  std::int64_t begin = 0;
  for (const std::int64_t count : {64, 1, 0, 122}) {
    if (count == 0) continue;
    state.pieces.push_back({.name = "w",
                            .shard = {{11, 17}},
                            .begin = begin,
                            .data = whole.view(-1).slice(0, begin, begin + count)});
    begin += count;
  }
  Saver saver({.folder = folder.path()});
  saver.save(state, 1);
  saver.wait();
  const Checkpoint read = Checkpoint::open(folder.path() / "step-00000001");
  EXPECT_TRUE(is_same(read.read("w"), whole));
  for (const std::int64_t parts : {2, 3, 5}) {
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t from = 187 * part / parts, to = 187 * (part + 1) / parts;
      at::Tensor out = torch::zeros({to - from});
      read.read_into({.name = "w", .shard = {{11, 17}}, .begin = from, .data = out});
      EXPECT_TRUE(is_same(out, whole.view(-1).slice(0, from, to)));
    }
  }
  at::Tensor other = torch::zeros({17, 11}, at::kDouble);
  read.read_into("w", other);
  EXPECT_TRUE(at::equal(other.view(-1), whole.view(-1).to(at::kDouble)));
  EXPECT_THROW(read.read_into("w", torch::zeros({3})), Error);
  EXPECT_THROW(read.read_into({.name = "w", .shard = {{17, 11}}, .data = whole}), Error);
}

TEST(CheckpointSaver, LaterChangesDoNotAffectTheSnapshot) {
  const TemporaryFolder folder("saver");
  const at::Tensor weight = torch::ones({1'000'003});
  State state;
  state.add("w", weight);
  Saver saver({.folder = folder.path()});
  for (int step = 1; step <= 3; ++step) {
    saver.save(state, step);
    weight.add_(1);
  }
  saver.wait();
  for (int step = 1; step <= 3; ++step) {
    const auto read = Checkpoint::open(folder.path() / format::folder_name(step)).read("w");
    EXPECT_TRUE(at::equal(read, torch::full({1'000'003}, static_cast<float>(step))));
  }
  EXPECT_EQ(saver.figures().saved, 3);
  EXPECT_EQ(saver.figures().last_step, 3);
  EXPECT_EQ(saver.figures().bytes, 3u * 4'000'012);
}

TEST(CheckpointSaver, TheNextSaverKeepsTheLastAndTheBest) {
  const TemporaryFolder folder("saver");
  State state;
  state.add("w", torch::ones({3}));
  const Saver::Options options{.folder = folder.path(),
                               .retention = {.keep_last = 2, .keep_best = 1}};
  {
    Saver saver(options);
    for (int step : {1, 2, 3, 4}) saver.save(state, step, step == 2 ? 0.1 : 0.5);
    saver.wait();
  }
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(2, 3, 4));
  Saver saver(options);
  EXPECT_THROW(Saver{options}, Error);
  saver.save(state, 5, 0.3);
  saver.wait();
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(2, 4, 5));
  saver.remove_after(2);
  saver.save(state, 3, 0.3);
  saver.wait();
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(2, 3));
}

// A damaged checkpoint is never removed: neither when a job goes back nor by a new checkpoint of
// its step.
TEST(CheckpointSaver, UnreadableCheckpointsAreSetAside) {
  const TemporaryFolder folder("saver");
  State state;
  state.add("w", torch::ones({3}));
  {
    Saver saver({.folder = folder.path()});
    for (int step : {1, 2, 3}) saver.save(state, step);
    saver.wait();
  }
  std::filesystem::remove(folder.path() / "step-00000002" / format::kManifestName);
  Saver saver({.folder = folder.path()});
  saver.remove_after(1);
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(1, 2));
  saver.save(state, 2);
  saver.wait();
  EXPECT_EQ(Checkpoint::newest_whole(folder.path()).checkpoint->step(), 2);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "step-00000002.damaged"));
  saver.set_aside(2);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "step-00000002.damaged-2"));
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(1));
}

TEST(CheckpointSaver, ScoresOfAnotherKindDoNotCount) {
  const TemporaryFolder folder("saver");
  State state{.pieces = {}, .meta = R"({"is":"old"})"};
  state.add("w", torch::ones({3}));
  Saver::Options options{.folder = folder.path(), .retention = {.keep_last = 1, .keep_best = 1}};
  {
    Saver saver(options);
    for (int step : {1, 2}) saver.save(state, step, 0.1 * step);
    saver.wait();
  }
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(1, 2));
  options.is_score_alike = [](const std::string& meta) { return meta != R"({"is":"old"})"; };
  Saver saver(options);
  saver.save(state, 3, 0.9);
  saver.wait();
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(3));
}

class FailOnce : public Faults {
 public:
  void reached(FaultPoint point, int) override {
    if (point == format::kManifestWritten && !std::exchange(has_failed_, true)) {
      throw Error(ErrorCode::Exhausted, "no room");
    }
  }

 private:
  bool has_failed_ = false;
};

TEST(CheckpointSaver, AFailureIsThrownOnceAndTheNextSaveSucceeds) {
  const TemporaryFolder folder("saver");
  FailOnce faults;
  State state;
  state.add("w", torch::ones({3}));
  Saver saver({.folder = folder.path(), .faults = &faults});
  saver.save(state, 1);
  EXPECT_THROW(saver.wait(), Error);
  EXPECT_NO_THROW(saver.wait());
  EXPECT_TRUE(format::drafts_in(folder.path()).empty());
  saver.save(state, 2);
  saver.wait();
  EXPECT_THAT(steps_in(folder.path()), ElementsAre(2));
}

TEST(CheckpointSaver, AFailureReturnedBySettleIsNotThrown) {
  const TemporaryFolder folder("saver");
  FailOnce faults;
  State state;
  state.add("w", torch::ones({3}));
  Saver saver({.folder = folder.path(), .faults = &faults});
  EXPECT_FALSE(saver.poll().has_value());
  saver.save(state, 1);
  const auto failed = saver.settle();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->step, 1);
  EXPECT_TRUE(failed->failure != nullptr);
  EXPECT_NO_THROW(saver.save(state, 2));
  const auto written = saver.settle();
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->step, 2);
  EXPECT_TRUE(written->failure == nullptr);
  EXPECT_FALSE(saver.poll().has_value());
}

}  // namespace
}  // namespace trireme::checkpoint
