// Goal:   an encoded reduce-scatter gives each rank the sum of its shard: exactly with a lossless
//         codec; otherwise other ranks' values are encoded and its own are not. Residuals can be
//         restored on another number of ranks and for an encoded all-reduce.
// Method: ranks as threads, parameters of odd sizes in small buckets, compared bitwise with
//         references of one thread.

#include "trireme/parallel/data/coded/coded_sum.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>
#include <mutex>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/random.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/codec/kinds.h"
#include "trireme/codec/zstd/lossless.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/data/reduce/bucket_sum.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

using Flat = std::vector<float>;

std::vector<Parameter> odd_parameters() {
  return {{.name = "matrix", .tensor = torch::zeros({24, 20})},
          {.name = "empty", .tensor = torch::zeros({0})},
          {.name = "one", .tensor = torch::zeros({1})},
          {.name = "prime", .tensor = torch::zeros({211})}};
}

BucketPlan plan_of(std::int64_t bucket_count, bool is_whole = false) {
  std::vector<BucketPlan::Parameter> shapes;
  for (const Parameter& one : odd_parameters()) shapes.push_back({.count = one.tensor.numel()});
  const std::size_t order[] = {0, 1, 2, 3};
  return BucketPlan::make(shapes, order, {.bucket_count = bucket_count, .is_whole = is_whole});
}

// A rank's random values in a step; the padding between parameters is zero.
Flat share_of(const BucketPlan& plan, int rank, int step) {
  Random random(static_cast<std::uint64_t>(rank * 100 + step));
  Flat flat(static_cast<std::size_t>(plan.count));
  for (const ElementRange& range : plan.range_of) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      flat[static_cast<std::size_t>(i)] = static_cast<float>(random.normal());
    }
  }
  return flat;
}

std::span<float> part_of(Flat& flat, const ElementRange& range) {
  return std::span(flat).subspan(static_cast<std::size_t>(range.begin),
                                 static_cast<std::size_t>(range.count()));
}

void step_of(BucketSum& sum, const BucketPlan& plan, Flat& flat, Flat& out,
             const comm::Group& group, int step) {
  const auto tensor_of = [](std::span<float> some) {
    return torch::from_blob(some.data(), {static_cast<std::int64_t>(some.size())});
  };
  sum.begin(step);
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    const BucketPlan::Bucket& bucket = plan.buckets[b];
    sum.launch(b, tensor_of(part_of(flat, bucket.range)),
               tensor_of(part_of(out, bucket.slice(group.rank(), group.size()))));
    sum.is_done(0);
  }
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) sum.finish(b);
  sum.commit();
}

// By step: the shards of all ranks, in the flat space.
std::vector<Flat> scattered(const codec::CodecConfig& config, const BucketPlan& plan, int ranks,
                            int steps, const std::function<Flat(int rank, int step)>& share) {
  const auto groups = comm::connect_threads(ranks, {.timeout = std::chrono::seconds(30)});
  std::vector<Flat> all(static_cast<std::size_t>(steps),
                        Flat(static_cast<std::size_t>(plan.count)));
  testing::run_rank_threads(ranks, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    CodedSum scatter({.group = group,
                      .codec = codec::make_codec(config),
                      .topology = CodedSum::Topology::ReduceScatter,
                      .has_error_feedback = config.has_error_feedback,
                      .seed = 3},
                     plan, odd_parameters());
    for (int step = 0; step < steps; ++step) {
      Flat flat = share(rank, step);
      step_of(scatter, plan, flat, all[static_cast<std::size_t>(step)], group, step);
    }
    EXPECT_GT(scatter.traffic().plain, 0);
    group.barrier().wait();
  });
  return all;
}

TEST(CodedReduceScatter, LosslessCodecGivesTheSumInTheOrderOfRanks) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  for (const int ranks : {2, 3, 7}) {
    const BucketPlan plan = plan_of(64);
    const auto share = [&](int rank, int step) { return share_of(plan, rank, step); };
    const auto found = scattered({.kind = codec::CodecKind::Zstd}, plan, ranks, 2, share);
    for (int step = 0; step < 2; ++step) {
      Flat sum(static_cast<std::size_t>(plan.count));
      for (int rank = 0; rank < ranks; ++rank) {
        const Flat own = share(rank, step);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i];
      }
      EXPECT_EQ(found[static_cast<std::size_t>(step)], sum) << ranks << " ranks, step " << step;
    }
  }
}

// Error feedback sends later what a codec leaves out.
TEST(CodedReduceScatter, ResidualIsSmallerThanTheSum) {
  constexpr int kSteps = 4;
  for (const codec::CodecKind kind : codec::kCodecKinds) {
    if (kind == codec::CodecKind::Zstd) continue;
    const bool is_whole = kind == codec::CodecKind::PowerSgd;
    const codec::CodecConfig config{.kind = kind, .ratio = 0.1};
    for (const int ranks : {2, 3}) {
      const BucketPlan plan = plan_of(500, is_whole);
      const auto share = [&](int rank, int step) { return share_of(plan, rank, step); };
      const auto found = scattered(config, plan, ranks, kSteps, share);
      // The sum of all values is what was sent plus the residual.
      Flat sent(static_cast<std::size_t>(plan.count)), all(static_cast<std::size_t>(plan.count));
      for (int step = 0; step < kSteps; ++step) {
        for (std::size_t i = 0; i < sent.size(); ++i) {
          sent[i] += found[static_cast<std::size_t>(step)][i];
        }
        for (int rank = 0; rank < ranks; ++rank) {
          const Flat own = share(rank, step);
          for (std::size_t i = 0; i < all.size(); ++i) all[i] += own[i];
        }
      }
      double lost = 0, squares = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        lost += (all[i] - sent[i]) * (all[i] - sent[i]);
        squares += double{all[i]} * all[i];
      }
      EXPECT_LT(lost, squares) << codec::name_of(kind) << " " << ranks;
      EXPECT_GT(lost, 0) << codec::name_of(kind) << " " << ranks;
    }
  }
}

TEST(CodedReduceScatter, IsBitwiseTopKOfOtherRanksValues) {
  constexpr int kRanks = 3, kSteps = 5;
  const BucketPlan plan = plan_of(300);
  const codec::CodecConfig config{.kind = codec::CodecKind::TopK, .ratio = 0.1};
  const auto codec = codec::make_codec(config);
  const auto share = [&](int rank, int step) { return share_of(plan, rank, step); };
  const auto found = scattered(config, plan, kRanks, kSteps, share);
  std::vector<Flat> residuals(kRanks, Flat(static_cast<std::size_t>(plan.count)));
  for (int step = 0; step < kSteps; ++step) {
    Flat sum(static_cast<std::size_t>(plan.count));
    for (int from = 0; from < kRanks; ++from) {
      Flat own = share(from, step);
      for (const BucketPlan::Bucket& bucket : plan.buckets) {
        for (int to = 0; to < kRanks; ++to) {
          const ElementRange range = bucket.slice(to, kRanks);
          const std::span<float> values = part_of(own, range), there = part_of(sum, range);
          if (from == to) {
            for (std::size_t i = 0; i < values.size(); ++i) there[i] += values[i];
            continue;
          }
          Bytes out(codec->size_max(values.size(), {}));
          codec->encode_fed(values, part_of(residuals[static_cast<std::size_t>(from)], range), {},
                            {}, out);
          codec->add(out, {}, there);
        }
      }
    }
    EXPECT_EQ(found[static_cast<std::size_t>(step)], sum) << "step " << step;
  }
}

TEST(CodedReduceScatter, NonFiniteValuesStayNonFinite) {
  constexpr int kRanks = 3;
  const BucketPlan plan = plan_of(64);
  for (const codec::CodecKind kind : {codec::CodecKind::Int8, codec::CodecKind::TopK,
                                      codec::CodecKind::Threshold, codec::CodecKind::Fp16}) {
    // Only the first step has a value that is not finite.
    const auto share = [&](int rank, int step) {
      Flat flat = share_of(plan, rank, step);
      const auto at = static_cast<std::size_t>(plan.range_of[3].begin) + 100;
      if (rank == 1 && step == 0) flat[at] = std::numeric_limits<float>::quiet_NaN();
      return flat;
    };
    const auto found = scattered({.kind = kind}, plan, kRanks, 2, share);
    const auto is_broken = [](float value) { return !std::isfinite(value); };
    EXPECT_TRUE(std::any_of(found[0].begin(), found[0].end(), is_broken)) << codec::name_of(kind);
    EXPECT_FALSE(std::any_of(found[1].begin(), found[1].end(), is_broken)) << codec::name_of(kind);
  }
}

// The sum of all saved residuals of one parameter.
double saved_residual(const checkpoint::Checkpoint& from, const std::string& name) {
  double all = 0;
  for (int rank = 0; from.has("optim/residual." + std::to_string(rank) + "/" + name); ++rank) {
    all += from.read("optim/residual." + std::to_string(rank) + "/" + name).sum().item<double>();
  }
  return all;
}

// Two ranks restore the residuals of three and then send zeros: the sums are the residuals.
TEST(CodedReduceScatter, ResidualsAreSentByAnotherNumberOfRanks) {
  const codec::CodecConfig config{.kind = codec::CodecKind::TopK, .ratio = 0.2};
  const TemporaryFolder folder("coded-scatter");
  const BucketPlan plan = plan_of(300);
  const auto codec = codec::make_codec(config);
  constexpr int kBefore = 3, kNow = 2;
  std::vector<std::unique_ptr<CodedSum>> old(kBefore);
  const auto before = comm::connect_threads(kBefore, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(kBefore, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    old[r] = std::make_unique<CodedSum>(
        CodedSum::Options{
            .group = before[r], .codec = codec, .topology = CodedSum::Topology::ReduceScatter},
        plan, odd_parameters());
    Flat flat = share_of(plan, rank, 0), out(flat.size());
    step_of(*old[r], plan, flat, out, before[r], 0);
    before[r].barrier().wait();
  });
  checkpoint::State state;
  for (const auto& one : old) {
    for (checkpoint::Piece& piece : one->feedback()->pieces())
      state.pieces.push_back(std::move(piece));
  }
  checkpoint::Saver saver({.folder = folder.path()});
  saver.save(state, 1);
  saver.wait();
  const auto from = *checkpoint::Checkpoint::newest_whole(folder.path()).checkpoint;
  const double residual = saved_residual(from, "prime");
  EXPECT_GT(std::fabs(residual), 0.1);

  const BucketPlan other = plan_of(64);
  for (const bool is_scattered : {true, false}) {
    const auto groups = comm::connect_threads(kNow, {.timeout = std::chrono::seconds(30)});
    Flat sum(static_cast<std::size_t>(other.count));
    testing::run_rank_threads(kNow, [&](int rank) {
      const comm::Group& group = groups[static_cast<std::size_t>(rank)];
      const auto topology =
          is_scattered ? CodedSum::Topology::ReduceScatter : CodedSum::Topology::AllReduce;
      const auto next = std::make_unique<CodedSum>(
          CodedSum::Options{.group = group, .codec = codec, .topology = topology}, other,
          odd_parameters());
      next->feedback()->restore(from);
      for (int step = 0; step < 10; ++step) {
        Flat zeros(static_cast<std::size_t>(other.count)), out(zeros.size());
        if (is_scattered) {
          step_of(*next, other, zeros, out, group, step);
        } else {
          next->begin(step);
          for (std::size_t b = 0; b < other.buckets.size(); ++b) {
            const std::span<float> some = part_of(zeros, other.buckets[b].range);
            const at::Tensor values =
                torch::from_blob(some.data(), {static_cast<std::int64_t>(some.size())});
            next->launch(b, values, values);
          }
          for (std::size_t b = 0; b < other.buckets.size(); ++b) next->finish(b);
          if (rank == 0) out = zeros;
        }
        static std::mutex mutex;
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < out.size(); ++i) sum[i] += out[i];
      }
      group.barrier().wait();
    });
    double received = 0;
    for (const float one : part_of(sum, other.range_of[3])) received += one;
    // The tolerance is for a sum of two hundred floats of about one.
    EXPECT_NEAR(received, residual, 1e-4) << (is_scattered ? "scattered" : "exchanged");
  }
}

}  // namespace
}  // namespace trireme::parallel::data
