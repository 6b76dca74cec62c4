// Goal:   a loop of one's own on several ranks comes to the weights of one rank, with every kind
//         that agrees in each step; those that agree less often learn too, and end alike; bad words
//         and losses that are no number are refused.
// Method: ranks as threads with points of their own; float64 and SGD, within 1e-12 of one rank that
//         has all points: sums of a few numbers, rounded in another order.

#include "trireme/parallel/learner.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

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

Learned learn(int ranks, Settings settings, at::ScalarType type, int steps = 40) {
  settings.insert(settings.begin(), {"optim.kind=sgd", "optim.learning_rate=0.1"});
  std::vector<comm::Group> groups{comm::Group::solo()};
  if (ranks > 1) groups = comm::connect_threads(ranks);
  std::vector<Learned> all(static_cast<std::size_t>(ranks));
  testing::run_rank_threads(ranks, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    torch::nn::Linear net(1, 1);
    net->to(type);
    {
      // Of which rank 0's count.
      const c10::NoGradGuard no_grad;
      net->weight.fill_(0.25 + rank);
      net->bias.fill_(rank);
    }
    const at::Tensor x =
        torch::linspace(-1, 1, kPoints, type).unsqueeze(1).slice(0, rank, kPoints, ranks);
    Learner learner(*net, group, settings);
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

TEST(Learner, OnManyRanksIsThatOnOne) {
  for (const char* clip : {"optim.clip_norm=0", "optim.clip_norm=0.5"}) {
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

TEST(Learner, LessOftenAndWithFewerBytesItLearnsToo) {
  for (const std::string how :
       {"sync.kind=local", "sync.kind=diloco", "sync.kind=gossip", "sync.kind=delayed",
        "sync.kind=hierarchical", "sync.schedule=[\"3=local\"]", "sync.codec.kind=top_k",
        "sync.codec.kind=int8"}) {
    const Learned many = learn(2, {how, "optim.momentum=0"}, at::kFloat, 200);
    EXPECT_LT(many.last, many.first / 10) << how;
  }
}

TEST(Learner, RefusesWordsThatNoRecipeHas) {
  torch::nn::Linear net(1, 1);
  EXPECT_THROW(Learner(*net, comm::Group::solo(), {"sync.kind=telepathy"}), Error);
  EXPECT_THROW(Learner(*net, comm::Group::solo(), {"train.batch=3"}), Error);
  EXPECT_THROW(Learner(*net, comm::Group::solo(), {"optim.unfreeze_every=3"}), Error);
}

TEST(Learner, ALossThatIsNoNumberChangesNothing) {
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
