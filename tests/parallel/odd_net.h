// A module with parameters that need special treatment: unused in some steps, on some ranks, or
// always; frozen, tied, used twice, without dimensions, and an embedding with sparse gradients.

#pragma once

#include <torch/torch.h>

#include <map>
#include <string>

namespace trireme::parallel {

struct Odd : torch::nn::Module {
  Odd() {
    torch::Generator generator = at::detail::createCPUGenerator(3);
    const auto random = [&](at::IntArrayRef sizes) {
      return torch::randn(sizes, generator, at::kDouble) * 0.3;
    };
    often = register_parameter("often", random({3, 5}));
    sometimes = register_parameter("sometimes", random({7}));
    by_one = register_parameter("by_one", random({2, 2}));
    never = register_parameter("never", random({4}));
    frozen = register_parameter("frozen", random({5}), false);
    tied = register_parameter("tied", random({5, 3}));
    register_parameter("tied_again", tied);
    table = register_parameter("table", random({6, 3}));
    single = register_parameter("single", random({}));
    register_buffer("seen", torch::zeros({1}, at::kDouble));
  }

  at::Tensor loss(int rank, int step) {
    const at::Tensor rows = torch::tensor({rank % 6, (rank + step) % 6, 2});
    at::Tensor x = torch::embedding(table, rows, -1, false, /*sparse=*/true);
    x = x.matmul(often).matmul(tied).matmul(tied.t()) + frozen * single;
    at::Tensor sum = x.sin().sum() * (0.1 * (rank + 1));
    if (step % 2 == 0) sum = sum + (sometimes * (rank + step)).cos().sum();
    if (rank == 1 && step > 1) sum = sum + by_one.pow(2).sum();
    return sum;
  }

  at::Tensor often, sometimes, by_one, never, frozen, tied, table, single;
};

inline std::map<std::string, at::Tensor> values_of(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> all;
  for (const auto& item : module.named_parameters())
    all[item.key()] = item.value().detach().clone();
  return all;
}

}  // namespace trireme::parallel
