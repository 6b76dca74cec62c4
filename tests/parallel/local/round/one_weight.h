// Replicas of one weight, for tests of rounds: each rank holds one, and there are no passes.

#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <memory>

#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/local/round/round_recovery.h"
#include "trireme/parallel/single_rank.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::local {

inline Replica replica_of(const comm::Group& group, const at::Tensor& weight) {
  const std::vector<Parameter> parameters{{.name = "w", .tensor = weight}};
  const auto optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0.9});
  Replica replica = Replica::alone(std::make_shared<SingleRank>(SingleRank::Options{
                                       .parameters = parameters, .optimizer = optimizer}),
                                   parameters, group);
  replica.states = optimizer->state_names();
  for (int rank = 0; rank < group.size(); ++rank) replica.numbers.push_back(rank);
  return replica;
}

// The parts of Rounds around one replica, whose weight and buffer are its rank.
struct OneWeight {
  explicit OneWeight(const comm::Group& all, bool can_lose_ranks = false)
      : group(all),
        is_elastic(can_lose_ranks),
        weight(torch::full({4}, static_cast<float>(all.rank())).requires_grad_()),
        buffer(torch::full({1}, static_cast<float>(all.rank()))) {
    const c10::NoGradGuard no_grad;
    weight.fill_(all.rank());  // IndependentReplicas gave all ranks the first replica's
  }

  comm::Group group;
  bool is_elastic;
  RoundSettings pace{};
  at::Tensor weight, buffer;
  ReplicaMarks marks{nullptr};
  IndependentReplicas replicas{replica_of(group, weight), {buffer}};
  RoundEnd end{pace};
  Fragments fragments{{.flat = {}, .gathering = CombineRule::Average, .pace = pace},
                      replicas.replica()};
  RoundExchange exchange{
      {.replicas = replicas, .fragments = fragments, .marks = marks, .is_elastic = is_elastic}};
  RoundRecovery recovery{exchange, end};

  double value() const { return weight[3].item<double>(); }
  at::Tensor momentum() { return replicas.pieces().at(1).data; }
};

// Runs a function on ranks as threads, which end together.
inline void on_ranks(int ranks, const std::function<void(const comm::Group&)>& body) {
  const auto groups = comm::connect_threads(ranks, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(ranks, [&](int rank) {
    const c10::NoGradGuard no_grad;
    body(groups[static_cast<std::size_t>(rank)]);
    groups[static_cast<std::size_t>(rank)].barrier().wait();
  });
}

}  // namespace trireme::parallel::local
