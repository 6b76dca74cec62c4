// Goal:   a program's own training loop on several ranks gets the weights of one rank, with every
//         strategy that synchronizes in each step; local-update methods and a custom codec also
//         learn, and all ranks end with the same weights; invalid settings and losses that are not
//         finite are rejected.
// Method: ranks as threads, each with its own points; float64 and SGD, within 1e-12 of one rank
//         with all points, because sums of a few numbers are rounded in another order.

#include "trireme/parallel/learner.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <cmath>
#include <cstring>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

using Settings = std::vector<std::string>;
constexpr int kPoints = 12;

struct Learned {
  at::Tensor weights;
  double first = 0;
  double last = 0;
};

Learned learn(int ranks, Settings settings, at::ScalarType type, int steps = 40,
              const std::shared_ptr<const codec::Codec>& own_codec = nullptr) {
  settings.insert(settings.begin(), {"optim.kind=sgd", "optim.lr=0.1"});
  std::vector<comm::Group> groups{comm::Group::solo()};
  if (ranks > 1) groups = comm::connect_threads(ranks);
  std::vector<Learned> all(static_cast<std::size_t>(ranks));
  testing::run_rank_threads(ranks, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    torch::nn::Linear net(1, 1);
    net->to(type);
    {
      // Only rank 0's initial values count.
      const c10::NoGradGuard no_grad;
      net->weight.fill_(0.25 + rank);
      net->bias.fill_(rank);
    }
    const at::Tensor x =
        torch::linspace(-1, 1, kPoints, type).unsqueeze(1).slice(0, rank, kPoints, ranks);
    Learner learner(*net, group, settings, 0, own_codec);
    Learned& mine = all[static_cast<std::size_t>(rank)];
    for (int step = 0; step < steps; ++step) {
      mine.last = learner.step([&] { return torch::mse_loss(net->forward(x), x + 1); });
      if (step == 0) mine.first = mine.last;
    }
    EXPECT_EQ(learner.updates(), steps);
    learner.join();
    mine.weights = torch::cat({net->weight.detach().view(-1), net->bias.detach()}).clone();
    group.barrier().wait();
  });
  for (const Learned& other : all) EXPECT_TRUE(other.weights.equal(all[0].weights));
  return all[0];
}

TEST(Learner, SeveralRanksGetTheWeightsOfOne) {
  for (const char* clip : {"optim.max_grad_norm=0", "optim.max_grad_norm=0.5"}) {
    const Learned one = learn(1, {clip}, at::kDouble);
    EXPECT_LT(one.last, one.first / 50);
    for (const std::string kind : {"auto", "all_reduce", "shared", "zero1", "zero2", "zero3"}) {
      for (const int ranks : {2, 3, 4}) {
        const Learned many = learn(ranks, {"sync.kind=" + kind, clip}, at::kDouble);
        EXPECT_LT((many.weights - one.weights).abs().max().item<double>(), 1e-12) << kind << ranks;
        EXPECT_NEAR(many.last, one.last, 1e-12);
      }
    }
  }
}

TEST(Learner, LearnsWithLocalUpdatesAndCodecs) {
  for (const std::string how :
       {"sync.kind=local", "sync.kind=diloco", "sync.kind=gossip", "sync.kind=delayed",
        "sync.kind=hierarchical", "sync.schedule=[\"3=local\"]", "sync.codec.kind=top_k",
        "sync.codec.kind=int8"}) {
    const Learned many = learn(2, {how, "optim.momentum=0"}, at::kFloat, 200);
    EXPECT_LT(many.last, many.first / 10) << how;
  }
}

// A custom codec that sends either the even or the odd elements of a bucket as float32, whichever
// are larger, after a byte that says which. Error feedback sends the others later.
class Halves final : public codec::Codec {
 public:
  std::size_t size_max(std::size_t count, std::span<const codec::BucketPart>) const override {
    return 1 + (count + 1) / 2 * sizeof(float);
  }
  std::size_t encode(std::span<const float> values, std::span<const codec::BucketPart> parts,
                     const codec::Draw&, std::span<std::byte> out) const override {
    calls_ += 1;
    double even = 0, odd = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      (i % 2 == 0 ? even : odd) += std::fabs(double{values[i]});
    }
    const std::size_t first = odd > even ? 1 : 0;
    out[0] = static_cast<std::byte>(first);
    std::fill(out.begin() + 1, out.end(), std::byte{0});
    std::byte* at = out.data() + 1;
    for (std::size_t i = first; i < values.size(); i += 2, at += sizeof(float)) {
      std::memcpy(at, &values[i], sizeof(float));
    }
    return size_max(values.size(), parts);
  }
  void add(ByteView coded, std::span<const codec::BucketPart>,
           std::span<float> sum) const override {
    const std::byte* at = coded.data() + 1;
    for (auto i = std::to_integer<std::size_t>(coded[0]); i < sum.size(); i += 2) {
      float value = 0;
      std::memcpy(&value, at, sizeof(value));
      sum[i] += value;
      at += sizeof(float);
    }
  }
  bool is_unbiased() const override { return false; }

  int calls() const { return calls_; }

 private:
  mutable std::atomic<int> calls_{0};
};

TEST(Learner, AcceptsACustomCodec) {
  for (const std::string how : {"sync.kind=all_reduce", "sync.kind=local", "sync.kind=delayed"}) {
    const auto codec = std::make_shared<Halves>();
    const Learned many = learn(2, {how, "optim.momentum=0"}, at::kFloat, 200, codec);
    EXPECT_LT(many.last, many.first / 10) << how;
    EXPECT_GE(codec->calls(), how == "sync.kind=local" ? 2 * (200 / 16) : 2 * 199) << how;
  }
  const auto refused = [](const Settings& settings) {
    const auto groups = comm::connect_threads(2);
    testing::run_rank_threads(2, [&](int rank) {
      torch::nn::Linear net(1, 1);
      try {
        Learner learner(*net, groups[static_cast<std::size_t>(rank)], settings, 0,
                        std::make_shared<Halves>());
        ADD_FAILURE() << settings[0];
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
        EXPECT_NE(std::string(error.what()).find("codec"), std::string::npos);
      }
    });
  };
  refused({"sync.kind=shared"});
  refused({"sync.codec.kind=int8"});
}

TEST(Learner, RejectsSettingsThatNoRecipeHas) {
  torch::nn::Linear net(1, 1);
  EXPECT_THROW(Learner(*net, comm::Group::solo(), {"sync.kind=telepathy"}), Error);
  EXPECT_THROW(Learner(*net, comm::Group::solo(), {"train.global_batch_size=3"}), Error);
  EXPECT_THROW(Learner(*net, comm::Group::solo(), {"optim.unfreeze_every=3"}), Error);
}

TEST(Learner, ALossThatIsNotFiniteChangesNothing) {
  torch::nn::Linear net(1, 1);
  Learner learner(*net, comm::Group::solo(), {"optim.kind=sgd"});
  const at::Tensor before = net->weight.detach().clone();
  try {
    learner.step([&] { return net->forward(torch::full({1, 1}, NAN)).sum(); });
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Diverged);
  }
  EXPECT_TRUE(net->weight.detach().equal(before));
  EXPECT_EQ(learner.updates(), 0);
}

}  // namespace
}  // namespace trireme::parallel
