// The operations of torch.distributed on tensors. Each of them starts at once and returns a handle,
// whose wait() waits for the result.
//
//   build/trireme run -n 3 build/examples/09_collectives

#include <torch/torch.h>

#include <cstdio>
#include <string>

#include "trireme/comm/connect.h"
#include "trireme/comm/torch/tensor.h"

namespace {

namespace comm = trireme::comm;

std::string text_of(const torch::Tensor& tensor) {
  std::string text;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    text += " " + std::to_string(tensor[i].item<int>());
  }
  return text;
}

}  // namespace

int main() {
  auto world = trireme::cluster::World::join();
  auto group = comm::connect(world);
  const int rank = group.rank();
  const int size = group.size();
  // Rank r has the tensor (r, 10 r, 100 r).
  const torch::Tensor own = torch::tensor({1.0f, 10.0f, 100.0f}) * rank;
  const auto say = [&](const char* what, const torch::Tensor& tensor) {
    std::printf("rank %d %s:%s\n", rank, what, text_of(tensor).c_str());
  };

  torch::Tensor root = own.clone();
  comm::broadcast(group, root, /*root=*/2).wait();
  say("broadcast", root);

  torch::Tensor sum = own.clone();
  auto work = comm::all_reduce(group, sum, comm::ReduceOp::Sum);
  // The rank can compute here while the sum is in flight.
  work.wait();
  say("all_reduce", sum);

  torch::Tensor all = torch::empty({size});
  comm::all_gather(group, all, own.slice(0, 1, 2)).wait();
  say("all_gather", all);

  torch::Tensor part = torch::empty({1});  // rank r keeps element r of the sum
  comm::reduce_scatter(group, part, own, comm::ReduceOp::Sum).wait();
  say("reduce_scatter", part);

  torch::Tensor exchanged = torch::empty({size});  // element i comes from rank i
  comm::all_to_all(group, exchanged, own).wait();
  say("all_to_all", exchanged);

  torch::Tensor received = torch::empty({3});  // around the ring
  auto sending = comm::send(group, own, /*to=*/(rank + 1) % size, /*tag=*/0);
  comm::receive(group, received, /*from=*/(rank + size - 1) % size, /*tag=*/0).wait();
  sending.wait();
  say("receive", received);
  group.barrier().wait();
}
