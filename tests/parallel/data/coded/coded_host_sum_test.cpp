// Goal:   hosts sum the buckets that their ranks share, through one speaker per host; if a speaker
//         fails, the next one takes over the host's residual and codec state.
// Method: ranks as threads with shared memory inside a host and TCP across hosts, values with known
//         sums, and codecs that leave most values in the residual.

#include "trireme/parallel/data/coded/coded_host_sum.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/comm/host_threads.h"
#include "trireme/codec/kinds.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

constexpr std::int64_t kWidth = 64, kCount = 16 * kWidth, kAll = kCount + kWidth;

// A rank of a host: its exchange, and the values that the host's ranks share.
class HostRank {
 public:
  HostRank(const comm::Group& root, std::vector<int> hosts, at::Tensor values,
           codec::CodecConfig codec)
      : root_(root), hosts_(std::move(hosts)), values_(std::move(values)) {
    const std::vector<Parameter> parameters{{.name = "w", .tensor = at::zeros({16, kWidth})},
                                            {.name = "b", .tensor = at::zeros({kWidth})}};
    const std::vector<BucketPlan::Parameter> shapes{{.count = kCount},
                                                    {.count = kWidth, .unit = 1}};
    const std::vector<std::size_t> order{0, 1};
    plan_ = BucketPlan::make(shapes, order, {.bucket_count = kCount});
    EXPECT_EQ(plan_.buckets.size(), 2U);
    sum_.emplace(CodedSum::Options{.codec = codec::make_codec(codec),
                                   .shared = {.arena = inside({0, 1, 2, 3}).arena(), .key = 77}},
                 plan_, parameters);
  }

  void meet(const std::vector<int>& living, std::int64_t last) {
    sum_->regroup({.all = root_.subgroup(living),
                   .host = inside(living),
                   .place = root_.rank(),
                   .last_step = last});
  }

  // Replaces the host's values by the sum over all hosts.
  Traffic add_up(std::int64_t step) {
    sum_->begin(step);
    for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
      const ElementRange range = plan_.buckets[b].range;
      const at::Tensor part = values_.narrow(0, range.begin, range.count());
      sum_->launch(b, part, part);
    }
    for (std::size_t b = 0; b < plan_.buckets.size(); ++b) sum_->finish(b);
    return sum_->traffic();
  }

  CodedHostSum& sum() { return *sum_; }
  const at::Tensor& values() const { return values_; }
  const comm::Group& root() const { return root_; }

 private:
  comm::Group inside(const std::vector<int>& living) const {
    std::vector<int> beside;
    for (const int rank : living) {
      if (hosts_[static_cast<std::size_t>(rank)] == hosts_[static_cast<std::size_t>(root_.rank())])
        beside.push_back(rank);
    }
    return root_.subgroup(beside);
  }

  comm::Group root_;
  std::vector<int> hosts_;
  at::Tensor values_;
  BucketPlan plan_;
  std::optional<CodedHostSum> sum_;
};

void on_hosts(const std::vector<int>& hosts, const codec::CodecConfig& codec,
              const std::function<void(HostRank&)>& body) {
  const auto roots = comm::connect_hosts(hosts);
  std::map<int, at::Tensor> values;
  for (const int host : hosts) values.emplace(host, at::zeros({kAll}));
  testing::run_rank_threads(static_cast<int>(hosts.size()), [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    HostRank own(roots[r], hosts, values.at(hosts[r]), codec);
    body(own);
    roots[r].barrier().wait();
  });
}

TEST(CodedHostSum, SumsTheBucketsOfAllHosts) {
  for (const std::vector<int>& hosts : {std::vector<int>{0, 0, 1, 1}, {0, 1, 1, 1}, {0, 1, 2, 3}}) {
    on_hosts(hosts, {.kind = codec::CodecKind::Fp16}, [&](HostRank& own) {
      const int rank = own.root().rank();
      own.meet({0, 1, 2, 3}, -1);
      const bool is_first =
          std::find(hosts.begin(), hosts.end(), hosts[rank]) - hosts.begin() == rank;
      EXPECT_EQ(own.sum().feedback() != nullptr, is_first);
      // Powers of two are exact in float16.
      if (is_first) own.values().fill_(1 << hosts[rank]);
      const Traffic traffic = own.add_up(0);
      EXPECT_TRUE(own.values().eq((1 << (*hosts.rbegin() + 1)) - 1).all().item<bool>());
      // Every rank knows the traffic of its host.
      EXPECT_EQ(traffic.plain, 4 * kAll);
      EXPECT_EQ(traffic.sent, 2 * kAll);
    });
  }
}

// One of 64 values is sent; the others stay in the host's residual, which the next speaker sends.
TEST(CodedHostSum, TheNextSpeakerTakesOverTheResidualOfTheHost) {
  for (const bool is_committed : {true, false}) {
    on_hosts({0, 0, 1, 1}, {.kind = codec::CodecKind::TopK, .ratio = 1.0 / kWidth},
             [&](HostRank& own) {
               const int rank = own.root().rank();
               own.meet({0, 1, 2, 3}, -1);
               if (rank == 0) own.values().copy_(at::arange(1, kAll + 1));
               own.add_up(0);
               // Step 0 is complete in both cases, but its speaker may have died before commit().
               if (rank != 0 || is_committed) own.sum().commit();
               own.root().barrier().wait();
               if (rank == 0) return;
               own.meet({1, 2, 3}, 0);
               EXPECT_EQ(own.sum().feedback() != nullptr, rank != 3);
               if (rank != 1) return;
               double residual = 0;
               for (const checkpoint::Piece& piece : own.sum().feedback()->pieces()) {
                 residual += piece.data.sum().item<double>();
               }
               // The 16 largest values of one bucket were sent, and the largest of the other.
               const auto up_to = [](double n) { return n * (n + 1) / 2; };
               EXPECT_EQ(residual, up_to(kAll) - (up_to(kCount) - up_to(kCount - 16)) - kAll);
             });
  }
}

TEST(CodedHostSum, TheSpeakerContinuesWhenOtherRanksJoinAndLeave) {
  on_hosts({0, 0, 1, 1}, {.kind = codec::CodecKind::Int8}, [](HostRank& own) {
    const int rank = own.root().rank();
    if (rank != 0) own.meet({1, 2, 3}, -1);
    EXPECT_EQ(own.sum().feedback() != nullptr, rank == 1 || rank == 2);
    own.root().barrier().wait();
    // A rank joins before the speaker of one host, and a rank of the other host leaves.
    if (rank != 3) own.meet({0, 1, 2}, 0);
    EXPECT_EQ(own.sum().feedback() != nullptr, rank == 1 || rank == 2);
  });
}

}  // namespace
}  // namespace trireme::parallel::data
