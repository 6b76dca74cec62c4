// Goal:   hosts whose ranks hold shards of a bucket send the largest values of the host's whole
//         bucket, and all ranks get the sum of what the hosts sent, step after step.
// Method: hosts of several ranks as threads; the result must be bitwise equal to one TopK of each
//         host's whole bucket, with its residual.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "trireme/base/random.h"
#include "trireme/codec/kinds.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/data/coded/coded_sum.h"
#include "trireme/parallel/data/reduce/gradient_reduction.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

constexpr double kHostRatio = 0.05;

struct Hosts {
  int count = 2;
  int ranks = 2;  // per host
};

// One parameter of each of these sizes per bucket.
BucketPlan plan_of_counts(const std::vector<std::int64_t>& counts) {
  std::vector<BucketPlan::Parameter> shapes;
  for (const std::int64_t count : counts) shapes.push_back({.count = count});
  std::vector<std::size_t> order(counts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return BucketPlan::make(shapes, order, {.bucket_count = 1});
}

// A host's sum in a step; the largest values are at the end of each bucket.
std::vector<float> sum_of_host(const BucketPlan& plan, int host, int step) {
  Random random(static_cast<std::uint64_t>(host * 100 + step));
  std::vector<float> flat(static_cast<std::size_t>(plan.count));
  for (const BucketPlan::Bucket& bucket : plan.buckets) {
    const ElementRange range = bucket.entries[0].range;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double place =
          static_cast<double>(i - range.begin) / static_cast<double>(range.count());
      flat[static_cast<std::size_t>(i)] = static_cast<float>(random.normal() * std::exp(5 * place));
    }
  }
  return flat;
}

// By step: the sum over hosts of the TopK of their buckets.
std::vector<std::vector<float>> expected_sums(const BucketPlan& plan, const Hosts& hosts,
                                              int steps) {
  const auto codec = codec::make_codec({.kind = codec::CodecKind::TopK, .ratio = kHostRatio});
  std::vector<std::vector<float>> residuals(
      static_cast<std::size_t>(hosts.count),
      std::vector<float>(static_cast<std::size_t>(plan.count)));
  std::vector<std::vector<float>> all;
  for (int step = 0; step < steps; ++step) {
    std::vector<float>& sum = all.emplace_back(static_cast<std::size_t>(plan.count));
    for (int host = 0; host < hosts.count; ++host) {
      const std::vector<float> flat = sum_of_host(plan, host, step);
      for (const BucketPlan::Bucket& bucket : plan.buckets) {
        const auto begin = static_cast<std::size_t>(bucket.range.begin);
        const auto count = static_cast<std::size_t>(bucket.range.count());
        Bytes out(codec->size_max(count, {}));
        codec->encode_fed(
            std::span(flat).subspan(begin, count),
            std::span(residuals[static_cast<std::size_t>(host)]).subspan(begin, count), {}, {},
            out);
        codec->add(out, {}, std::span(sum).subspan(begin, count));
      }
    }
  }
  return all;
}

void expect_sums(const std::vector<std::int64_t>& counts, const Hosts& hosts) {
  constexpr int kSteps = 4;
  const BucketPlan plan = plan_of_counts(counts);
  const auto expected = expected_sums(plan, hosts, kSteps);
  const auto groups =
      comm::connect_threads(hosts.count * hosts.ranks, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(hosts.count * hosts.ranks, [&](int rank) {
    const comm::Group& all = groups[static_cast<std::size_t>(rank)];
    const int host = rank / hosts.ranks, place = rank % hosts.ranks;
    std::vector<int> inside, across;
    for (int r = 0; r < hosts.ranks; ++r) inside.push_back(host * hosts.ranks + r);
    for (int h = 0; h < hosts.count; ++h) across.push_back(h * hosts.ranks + place);
    StorageLayout layout;
    layout.plan = plan;
    layout.values = {torch::zeros({plan.count}), false, {}};
    std::vector<Parameter> parameters;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      parameters.push_back({.name = "p" + std::to_string(i), .tensor = torch::zeros({counts[i]})});
    }
    CodedSum::Options how{
        .group = all.subgroup(across),
        .codec = codec::make_codec({.kind = codec::CodecKind::TopK, .ratio = kHostRatio}),
        .beside = {{.group = all.subgroup(inside), .counts = {}}}};
    for (const BucketPlan::Bucket& bucket : plan.buckets) {
      layout.own.push_back(bucket.slice(place, hosts.ranks));
      how.beside->counts.push_back(bucket.slice_counts(hosts.ranks));
    }
    const SlicePlan slices(layout, parameters);
    CodedSum exchange(std::move(how), slices.plan, slices.parameters);
    for (int step = 0; step < kSteps; ++step) {
      std::vector<float> flat = sum_of_host(plan, host, step);
      exchange.begin(step);
      for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
        const ElementRange own = layout.own[b];
        exchange.launch(b, torch::from_blob(flat.data() + own.begin, {own.count()}));
        exchange.is_done(0);
      }
      for (std::size_t b = 0; b < plan.buckets.size(); ++b) exchange.finish(b);
      const std::vector<float>& right = expected[static_cast<std::size_t>(step)];
      for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
        const ElementRange own = layout.own[b];
        EXPECT_TRUE(
            std::equal(flat.begin() + own.begin, flat.begin() + own.end, right.begin() + own.begin))
            << "rank " << rank << ", step " << step << ", bucket " << b;
      }
      EXPECT_LE(exchange.traffic().sent, exchange.traffic().plain);
    }
    all.barrier().wait();
  });
}

TEST(JointExchange, EqualsTopKOfEachHostsSum) {
  expect_sums({1009, 5000, 64}, {.count = 2, .ranks = 2});
  expect_sums({1009, 97}, {.count = 3, .ranks = 3});
}

// Most shards are empty, and some buckets have one value.
TEST(JointExchange, SupportsEmptyShardsAndTinyBuckets) {
  expect_sums({1, 0, 2, 17}, {.count = 2, .ranks = 3});
  expect_sums({31}, {.count = 1, .ranks = 2});
  expect_sums({211}, {.count = 2, .ranks = 1});
}

}  // namespace
}  // namespace trireme::parallel::data
