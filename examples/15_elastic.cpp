// An elastic training loop of your own: a worker may die at any moment. The others continue with
// the weights in their memory, and the launcher starts another worker, which joins them. Here
// worker 1 kills itself; try kill -9 on another one.
//
//   build/trireme run -n 3 --elastic build/examples/15_elastic
//
// A recipe needs no such program: `trireme train --elastic` also completes the step that a death
// interrupted, hands over the state of optimizers, and writes checkpoints.

#include <signal.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

#include "trireme/cluster/launch/rank/rank_exit.h"
#include "trireme/parallel/replicas.h"
#include "trireme/train/recovery/elastic_world.h"

namespace {

using namespace trireme;
using train::ElasticWorld;

struct Training {
  torch::nn::Linear net{1, 1};
  torch::optim::SGD optimizer{net->parameters(), /*lr=*/0.1};  // has no state to hand over
  std::int64_t step = 0;
  bool is_done() const { return step >= 200; }
};

// Trains with the members of one epoch. They continue from the weights and the step of rank 0,
// which is the worker that has been a member for the longest time.
void train_in_epoch(Training& training, ElasticWorld& world) {
  const comm::Group group = world.group();
  parallel::Replicas replicas(*training.net, group);
  group.broadcast({&training.step, 1, comm::DType::Int64}, /*root=*/0).wait();
  world.settle();
  if (group.rank() == 0) {
    std::printf("from step %d: %d workers\n", static_cast<int>(training.step), group.size());
    std::fflush(stdout);
  }
  const torch::Tensor all = torch::linspace(-1, 1, 60).unsqueeze(1);
  const torch::Tensor x = all.slice(0, group.rank(), 60, group.size());
  std::int64_t is_change_wanted = 0;  // a worker wants to join, as any member has seen
  while (is_change_wanted == 0 && !training.is_done()) {
    if (training.step == 50 && world.worker() == 1) raise(SIGKILL);
    // These steps take microseconds: wait for the replacement, so that there is something to see.
    const bool is_smaller = group.size() < std::atoi(std::getenv("TRIREME_SIZE"));
    if (training.step == 100 && is_smaller) world.wait_for_more(Deadline::never());
    training.optimizer.zero_grad();
    torch::mse_loss(training.net->forward(x), x + 1).backward();
    training.optimizer.step();
    ++training.step;
    is_change_wanted = world.is_change_wanted() ? 1 : 0;
    group.all_reduce({&is_change_wanted, 1, comm::DType::Int64}, comm::ReduceOp::Max).wait();
  }
}

void end(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(1);
}

}  // namespace

int main() {
  const auto world = ElasticWorld::of_environment(train::ElasticConfig(), "15_elastic", end);
  if (!world) end("start this program with trireme run --elastic");
  world->join(/*is_stop_wanted=*/false, [] { std::_Exit(0); });  // exits if the job ends before

  torch::manual_seed(1);
  Training training;
  for (bool is_first = world->has_group(); !training.is_done(); is_first = false) {
    try {
      if (!is_first) world->next({.step = training.step}, {.takes_new = true});
      train_in_epoch(training, *world);
    } catch (const Error& error) {
      if (world->is_dismissed()) return cluster::launch::kExitDismissed;  // by `trireme scale`
      if (error.code() != ErrorCode::PeerLost) throw;
    }
  }
  if (world->rank() == 0) {
    world->announce_end();
    std::printf("y = %.2f x + %.2f\n", training.net->weight.item<double>(),
                training.net->bias.item<double>());
  }
  world->leave();
}
