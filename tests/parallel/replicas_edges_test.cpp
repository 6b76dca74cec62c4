// Goal:   Replicas supports frozen and boolean tensors, several synchronized backward passes, a
//         pass that throws, a second Replicas for the same module, and codecs.
// Method: two ranks as threads with small modules, compared with the results of one process.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/codec/kinds.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/replicas.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

struct EdgeNet : torch::nn::Module {
  explicit EdgeNet(double value) {
    weight = register_parameter("weight", torch::full({3}, value, torch::kDouble));
    frozen = register_parameter("frozen", torch::full({2}, value, torch::kDouble), false);
    mask = register_buffer("mask", torch::full({2, 2}, value > 1, torch::kBool));
  }
  at::Tensor weight, frozen, mask;
};

void on_two_ranks(const std::function<void(int, const comm::Group&)>& body) {
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(2, [&](int rank) {
    body(rank, groups[static_cast<std::size_t>(rank)]);
    groups[static_cast<std::size_t>(rank)].barrier().wait();
  });
}

double gradient_of(const EdgeNet& net) {
  return net.weight.grad()[0].item<double>();
}

TEST(ReplicasEdges, AllRanksGetRankZerosTensors) {
  on_two_ranks([](int rank, const comm::Group& group) {
    EdgeNet net(rank + 1.0);
    const Replicas replicas(net, group);
    EXPECT_EQ(net.weight[0].item<double>(), 1);
    EXPECT_EQ(net.frozen[1].item<double>(), 1);
    EXPECT_FALSE(net.mask[1][1].item<bool>());
  });
}

TEST(ReplicasEdges, SynchronizedPassesAccumulate) {
  on_two_ranks([](int rank, const comm::Group& group) {
    EdgeNet net(1);
    const Replicas replicas(net, group);
    (net.weight * (rank + 1)).sum().backward();
    EXPECT_DOUBLE_EQ(gradient_of(net), 1.5);
    (net.weight * (rank + 2)).sum().backward();
    EXPECT_DOUBLE_EQ(gradient_of(net), 4);
  });
}

TEST(ReplicasEdges, APassAfterOneThatThrewIsComplete) {
  on_two_ranks([](int rank, const comm::Group& group) {
    EdgeNet net(1);
    const Replicas replicas(net, group);
    const at::Tensor last = torch::ones({1}, torch::kDouble).requires_grad_();
    const at::Tensor bad = last * 1;
    bad.register_hook([](const at::Tensor&) { throw std::runtime_error("bad batch"); });
    // The weight's gradient is computed before the pass throws.
    EXPECT_THROW(((net.weight * bad).sum()).backward(), std::exception);
    net.weight.mutable_grad() = at::Tensor();
    (net.weight * (rank + 1)).sum().backward();
    EXPECT_DOUBLE_EQ(gradient_of(net), 1.5);
  });
}

struct Chain : torch::nn::Module {
  Chain() {
    for (int i = 0; i < 3; ++i) {
      weights.push_back(register_parameter("w" + std::to_string(i), torch::ones({2})));
    }
  }
  // The backward pass throws between the gradients of two weights; 0: it does not.
  void pass(double input, std::size_t throw_before) {
    at::Tensor x = torch::full({2}, input);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      x = x * weights[i];
      if (i + 1 != throw_before) continue;
      x.register_hook([](const at::Tensor&) { throw std::runtime_error("bad batch"); });
    }
    x.sum().backward();
  }
  std::vector<at::Tensor> weights;
};

TEST(ReplicasEdges, PassesMayThrowAtDifferentPoints) {
  on_two_ranks([](int rank, const comm::Group& group) {
    Chain net;
    const Replicas replicas(net, group, {.bucket_size = 1});
    net.pass(rank + 1, 0);
    net.zero_grad();
    EXPECT_THROW(net.pass(rank + 1, rank == 0 ? 1 : 2), std::exception);
    net.zero_grad();
    net.pass(rank + 1, 0);
    for (const at::Tensor& weight : net.weights) {
      EXPECT_TRUE(weight.grad().eq(1.5).all().item<bool>()) << weight.grad();
    }
  });
}

// The sign codec gives all elements the same magnitude; error feedback makes up for it over time.
TEST(ReplicasEdges, ACodecEncodesGradientsWithErrorFeedback) {
  on_two_ranks([](int rank, const comm::Group& group) {
    Chain net;
    const Replicas replicas(net, group,
                            {.codec = codec::make_codec({.kind = codec::CodecKind::Sign})});
    const at::Tensor factors = torch::tensor({1.0f, 3.0f});
    at::Tensor sum = torch::zeros({2});
    constexpr int kPasses = 40;
    for (int pass = 0; pass < kPasses; ++pass) {
      net.zero_grad();
      (net.weights[0] * factors * (rank + 1)).sum().backward();
      sum += net.weights[0].grad();
      if (pass == 0) {
        EXPECT_EQ(sum[0].item<float>(), sum[1].item<float>());
      }
    }
    EXPECT_TRUE(torch::allclose(sum / kPasses, factors * 1.5, 0, 0.3)) << sum / kPasses;
  });
}

TEST(ReplicasEdges, ACodecRejectsOtherTypesThanFloat32) {
  on_two_ranks([](int, const comm::Group& group) {
    EdgeNet net(1);
    try {
      const Replicas replicas(net, group,
                              {.codec = codec::make_codec({.kind = codec::CodecKind::Int8})});
      ADD_FAILURE() << "a codec accepted float64";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      EXPECT_NE(std::string(error.what()).find("weight, Double [3]"), std::string::npos);
    }
  });
}

TEST(ReplicasEdges, ASecondReplicasReplacesTheFirst) {
  on_two_ranks([](int rank, const comm::Group& group) {
    EdgeNet net(1);
    auto replicas = std::make_unique<Replicas>(net, group);
    replicas = std::make_unique<Replicas>(net, group);
    (net.weight * (rank + 1)).sum().backward();
    EXPECT_DOUBLE_EQ(gradient_of(net), 1.5);
  });
}

TEST(ReplicasEdges, ParametersOfAnotherDeviceAreRejectedByName) {
  on_two_ranks([](int, const comm::Group& group) {
    EdgeNet net(1);
    net.register_parameter("bias", torch::ones({2}, torch::device(torch::kMeta)));
    try {
      const Replicas replicas(net, group);
      ADD_FAILURE() << "a tensor without memory on the CPU was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported);
      EXPECT_NE(std::string(error.what()).find("parameter bias is on meta"), std::string::npos);
    }
  });
}

TEST(ReplicasEdges, ParametersOfDifferentTypesAreRejectedByName) {
  on_two_ranks([](int, const comm::Group& group) {
    EdgeNet net(1);
    net.register_parameter("narrow", torch::ones({2}, torch::kFloat));
    try {
      const Replicas replicas(net, group);
      ADD_FAILURE() << "float32 and float64 were accepted in one bucket";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported);
      EXPECT_NE(std::string(error.what()).find("narrow, Float [2]"), std::string::npos);
    }
  });
}

}  // namespace
}  // namespace trireme::parallel
