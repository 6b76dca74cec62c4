// Goal:   an encoded all-reduce gives every rank the same bits: the exact sum with a lossless
//         codec, and a sum within the codec's error bound otherwise. It counts its bytes.
// Method: ranks as threads, two parameters in two buckets, codecs of fixed and of variable size.

#include "trireme/parallel/data/coded/coded_sum.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/codec/kinds.h"
#include "trireme/codec/zstd/lossless.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

struct Sum {
  at::Tensor flat;
  Traffic traffic;
};

at::Tensor share_of(int rank, std::int64_t count) {
  torch::Generator generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(rank) + 5);
  return torch::randn({count}, generator, at::kFloat);
}

// By rank: the sums of the last of `steps` exchanges of the same values.
std::vector<Sum> exchanged(const codec::CodecConfig& config, int ranks, int steps = 1) {
  const auto groups = comm::connect_threads(ranks, {.timeout = std::chrono::seconds(30)});
  std::vector<Sum> all(static_cast<std::size_t>(ranks));
  testing::run_rank_threads(ranks, [&](int rank) {
    const std::vector<Parameter> parameters = {{.name = "m", .tensor = torch::zeros({40, 30})},
                                               {.name = "v", .tensor = torch::zeros({7})}};
    const BucketPlan::Parameter shapes[] = {{1200, 0}, {7, 0}};
    const std::size_t order[] = {0, 1};
    const BucketPlan plan = BucketPlan::make(shapes, order, {.bucket_count = 1200});
    CodedSum exchange({.group = groups[static_cast<std::size_t>(rank)],
                       .codec = codec::make_codec(config),
                       .has_error_feedback = config.has_error_feedback},
                      plan, parameters);
    Sum& mine = all[static_cast<std::size_t>(rank)];
    for (int step = 0; step < steps; ++step) {
      mine.flat = share_of(rank, plan.count);
      exchange.begin(step);
      for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
        const ElementRange range = plan.buckets[b].range;
        exchange.launch(b, mine.flat.narrow(0, range.begin, range.count()));
      }
      exchange.is_done(0);
      for (std::size_t b = 0; b < plan.buckets.size(); ++b) exchange.finish(b);
    }
    mine.traffic = exchange.traffic();
  });
  for (const Sum& other : all) EXPECT_TRUE(other.flat.equal(all[0].flat));
  return all;
}

at::Tensor plain_sum(int ranks, std::int64_t count) {
  at::Tensor sum = torch::zeros({count});
  for (int rank = 0; rank < ranks; ++rank) sum.add_(share_of(rank, count));
  return sum;
}

TEST(CodedExchange, LosslessCodecGivesTheSumInTheOrderOfRanks) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  for (const int ranks : {1, 2, 3}) {
    const auto all = exchanged({.kind = codec::CodecKind::Zstd}, ranks);
    EXPECT_TRUE(all[0].flat.equal(plain_sum(ranks, all[0].flat.numel()))) << ranks;
  }
}

TEST(CodedExchange, StaysWithinTheErrorBoundOfTheCodec) {
  for (const int ranks : {2, 3}) {
    const auto all = exchanged({.kind = codec::CodecKind::Int8}, ranks);
    const at::Tensor sum = plain_sum(ranks, all[0].flat.numel());
    // No value among a few thousand of a standard normal distribution is larger than 5.
    EXPECT_LT((all[0].flat - sum).abs().max().item<double>(), ranks * 5.0 / 127);
    EXPECT_GT((all[0].flat - sum).abs().max().item<double>(), 0);
    EXPECT_EQ(all[0].traffic.plain, 4 * all[0].flat.numel());
    EXPECT_LT(all[0].traffic.sent, all[0].traffic.plain / 3);
  }
}

TEST(CodedExchange, SixteenBitCodecsRoundAsTorchDoes) {
  for (const auto& [kind, type] : {std::pair(codec::CodecKind::Fp16, at::kHalf),
                                   std::pair(codec::CodecKind::Bf16, at::kBFloat16)}) {
    const auto all = exchanged({.kind = kind}, 2);
    const std::int64_t count = all[0].flat.numel();
    const at::Tensor sum =
        share_of(0, count).to(type).to(at::kFloat) + share_of(1, count).to(type).to(at::kFloat);
    EXPECT_TRUE(all[0].flat.equal(sum));
  }
}

TEST(CodedExchange, SizesMayDifferFromRankToRank) {
  const auto all = exchanged({.kind = codec::CodecKind::Threshold, .threshold = 2}, 3);
  EXPECT_GT(all[0].flat.count_nonzero().item<std::int64_t>(), 20);
  EXPECT_NE(all[0].traffic.sent, all[1].traffic.sent);
}

TEST(CodedExchange, KeepsCodecStateFromStepToStep) {
  const codec::CodecConfig config{
      .kind = codec::CodecKind::PowerSgd, .has_error_feedback = false, .rank = 3};
  const auto lost = [](const Sum& sum) {
    return (sum.flat - plain_sum(2, sum.flat.numel())).norm().item<double>();
  };
  EXPECT_LT(lost(exchanged(config, 2, 6)[0]), lost(exchanged(config, 2, 1)[0]));
}

}  // namespace
}  // namespace trireme::parallel::data
