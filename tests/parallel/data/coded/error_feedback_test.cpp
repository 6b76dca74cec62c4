// Goal:   residuals can be restored on other ranks, with other buckets and shards than before: the
//         sum over all contributors does not change, nor does its share of a mean.
// Method: hosts and ranks in one thread, shards of parameters of odd sizes, saved as a checkpoint
//         and read by others.

#include "trireme/parallel/data/coded/error_feedback.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/random.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/codec/kinds.h"
#include "trireme/parallel/data/reduce/gradient_reduction.h"

namespace trireme::parallel::data {
namespace {

struct Shape {
  int hosts = 1;
  int ranks = 1;  // per host
  std::int64_t bucket = 64;
  bool is_mean = false;
  bool is_undoable = false;
  codec::CodecKind kind = codec::CodecKind::TopK;
};

using Sums = std::map<std::string, at::Tensor>;  // by parameter

std::vector<Parameter> parameters() {
  return {{.name = "matrix", .tensor = torch::zeros({19, 7})},
          {.name = "empty", .tensor = torch::zeros({0})},
          {.name = "one", .tensor = torch::zeros({1})},
          {.name = "prime", .tensor = torch::zeros({211})}};
}

// The residuals of all ranks of all hosts.
class Crowd {
 public:
  explicit Crowd(const Shape& shape) : shape_(shape) {
    const std::vector<Parameter> all = parameters();
    std::vector<BucketPlan::Parameter> shapes;
    for (const Parameter& one : all) shapes.push_back({.count = one.tensor.numel()});
    StorageLayout layout;
    layout.plan = BucketPlan::make(
        shapes, order_of({}, shapes.size()),
        {.bucket_count = shape.bucket, .is_whole = shape.kind == codec::CodecKind::PowerSgd});
    layout.values = {torch::zeros({layout.plan.count}), false, {}};
    ErrorFeedback::Options how{.codec = codec::make_codec({.kind = shape.kind}),
                               .is_mean = shape.is_mean,
                               .is_undoable = shape.is_undoable};
    for (int host = 0; host < shape.hosts; ++host) {
      for (int rank = 0; rank < shape.ranks; ++rank) {
        layout.own.clear();
        for (const auto& bucket : layout.plan.buckets) {
          layout.own.push_back(bucket.slice(rank, shape.ranks));
        }
        const SlicePlan slices(layout, all);
        counts_.push_back(slices.plan.count);
        how.contributor = {.rank = host, .count = shape.hosts};
        kept_.push_back(slices.parameters.size());
        feedback_.emplace_back(how, slices.plan, slices.parameters);
      }
    }
  }

  void fill(std::uint64_t seed = 7) {
    Random random(seed);
    for (std::size_t i = 0; i < feedback_.size(); ++i) {
      for (float& one : feedback_[i].open({0, counts_[i]}))
        one = static_cast<float>(random.normal());
      for (std::size_t p = 0; p < kept_[i]; ++p) {
        for (float& one : feedback_[i].open_kept(p)) one = static_cast<float>(random.normal());
      }
    }
  }
  void commit() {
    for (ErrorFeedback& one : feedback_) one.commit();
  }
  void restore(const checkpoint::Checkpoint& from) {
    for (ErrorFeedback& one : feedback_) one.restore(from);
  }
  std::vector<checkpoint::Piece> pieces() const {
    std::vector<checkpoint::Piece> all;
    for (const ErrorFeedback& one : feedback_) {
      for (checkpoint::Piece& piece : one.pieces()) all.push_back(std::move(piece));
    }
    return all;
  }
  void regroup(int hosts) {
    for (ErrorFeedback& one : feedback_) one.regroup({.rank = 0, .count = hosts});
  }
  // The sum of all residuals, weighted as in the next sum or mean.
  Sums total() const {
    Sums sums;
    for (const Parameter& one : parameters()) sums[one.name] = torch::zeros({one.tensor.numel()});
    for (const checkpoint::Piece& piece : pieces()) {
      if (piece.name.find("residual.") == std::string::npos) continue;
      sums[piece.name.substr(piece.name.rfind('/') + 1)]
          .narrow(0, piece.begin, piece.data.numel())
          .add_(piece.data, shape_.is_mean ? 1.0 / shape_.hosts : 1.0);
    }
    return sums;
  }

 private:
  Shape shape_;
  std::vector<std::int64_t> counts_;
  std::vector<std::size_t> kept_;
  std::vector<ErrorFeedback> feedback_;
};

class ErrorFeedbackTest : public ::testing::Test {
 protected:
  checkpoint::Checkpoint saved(const Crowd& crowd) {
    checkpoint::Saver saver({.folder = folder_.path()});
    saver.save({.pieces = crowd.pieces()}, ++step_);
    saver.wait();
    return *checkpoint::Checkpoint::newest_whole(folder_.path()).checkpoint;
  }

  TemporaryFolder folder_{"residuals-test"};
  std::int64_t step_ = 0;
};

TEST_F(ErrorFeedbackTest, AreRestoredWithAnyOtherDivisionIntoShards) {
  const Shape befores[] = {{.hosts = 2, .ranks = 2}, {.hosts = 3, .ranks = 1}, {.ranks = 3}};
  const Shape nows[] = {
      {.hosts = 2, .ranks = 2}, {.hosts = 2, .ranks = 3}, {.hosts = 2, .ranks = 2, .bucket = 1024},
      {.hosts = 2, .ranks = 1}, {.hosts = 1, .ranks = 5}, {.hosts = 5, .ranks = 2, .bucket = 16}};
  for (const bool is_mean : {false, true}) {
    for (Shape before : befores) {
      before.is_mean = is_mean;
      Crowd old(before);
      old.fill();
      const checkpoint::Checkpoint from = saved(old);
      const Sums expected = old.total();
      EXPECT_GT(expected.at("prime").abs().max().item<double>(), 0.1);
      for (Shape now : nows) {
        now.is_mean = is_mean;
        Crowd next(now);
        next.fill();  // restore() must overwrite this
        next.restore(from);
        for (const auto& [name, sum] : next.total()) {
          // float32 sums of a few normal numbers, in another order.
          EXPECT_TRUE(sum.allclose(expected.at(name), 0, 1e-5))
              << name << ": " << before.hosts << "x" << before.ranks << " became " << now.hosts
              << "x" << now.ranks << (is_mean ? ", mean" : "");
        }
      }
    }
  }
}

// With the same number of hosts, residuals are bitwise the same.
TEST_F(ErrorFeedbackTest, AreBitwiseTheSameForTheSameNumberOfHosts) {
  Crowd old({.hosts = 2, .ranks = 2});
  old.fill();
  const checkpoint::Checkpoint from = saved(old);
  Crowd next({.hosts = 2, .ranks = 3, .bucket = 32});
  next.restore(from);
  const checkpoint::Checkpoint again = saved(next);
  EXPECT_EQ(again.names(), from.names());
  EXPECT_EQ(again.sizes("optim/residual.1/matrix"), (std::vector<std::int64_t>{19, 7}));
  for (const std::string& name : from.names()) {
    EXPECT_TRUE(again.read(name).equal(from.read(name))) << name;
  }
}

// Residuals of a mean of weight differences have other units than those of a sum of gradients.
TEST_F(ErrorFeedbackTest, OfAMeanAreNotRestoredForASum) {
  Crowd old({.hosts = 2, .is_mean = true});
  old.fill();
  Crowd next({.hosts = 2});
  next.restore(saved(old));
  for (const auto& [name, sum] : next.total())
    EXPECT_EQ(sum.count_nonzero().item<int>(), 0) << name;
}

TEST_F(ErrorFeedbackTest, CodecStateIsRestoredWithWholeParameters) {
  Crowd old({.hosts = 2, .ranks = 2, .kind = codec::CodecKind::PowerSgd});
  old.fill();
  const checkpoint::Checkpoint from = saved(old);
  EXPECT_TRUE(from.has("optim/codec.1/matrix"));
  Crowd next({.hosts = 2, .ranks = 3, .bucket = 1024, .kind = codec::CodecKind::PowerSgd});
  next.restore(from);
  const checkpoint::Checkpoint again = saved(next);
  EXPECT_EQ(again.names(), from.names());
  for (const std::string& name : from.names()) {
    EXPECT_TRUE(again.read(name).equal(from.read(name))) << name;
  }
}

// Residuals that were encoded but not committed before restore() must not count later.
TEST_F(ErrorFeedbackTest, AreThoseOfTheCheckpointAfterRestore) {
  Crowd old({.is_undoable = true});
  old.fill();
  EXPECT_EQ(old.total().at("prime").count_nonzero().item<int>(), 0) << "it was not committed";
  old.commit();
  const Sums expected = old.total();
  EXPECT_GT(expected.at("prime").abs().max().item<double>(), 0.1);
  const checkpoint::Checkpoint from = saved(old);
  Crowd next({.is_undoable = true});
  next.fill(8);
  next.commit();
  next.fill(9);
  next.restore(from);
  next.commit();
  for (const auto& [name, sum] : next.total()) EXPECT_TRUE(sum.equal(expected.at(name))) << name;
}

TEST_F(ErrorFeedbackTest, KeepTheirWeightWhenTheNumberOfHostsChanges) {
  for (const bool is_mean : {false, true}) {
    const Shape shape{.hosts = 4, .is_mean = is_mean};
    Crowd crowd(shape);
    crowd.fill();
    const Sums before = crowd.total();  // as of a mean of four
    crowd.regroup(3);
    for (const auto& [name, sum] : crowd.total()) {
      EXPECT_TRUE(sum.allclose(before.at(name) * (is_mean ? 3.0 / 4 : 1.0), 1e-6, 1e-6)) << name;
    }
  }
}

}  // namespace
}  // namespace trireme::parallel::data
