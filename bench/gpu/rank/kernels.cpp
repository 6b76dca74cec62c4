#include "bench/gpu/rank/kernels.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <torch/cuda.h>

#include <cstdio>
#include <functional>

#include "bench/gpu/gpt_size.h"
#include "bench/statistics.h"
#include "bench/turns.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/layer/kernel/fused.h"

namespace trireme::bench::gpu {
namespace {

namespace kernel = model::kernel;

constexpr std::int64_t kRows = 64 * 1024;
constexpr std::int64_t kWidth = 768;
constexpr int kRuns = 20;

at::Tensor halves(at::IntArrayRef sizes) {
  return at::randn(sizes, at::TensorOptions(at::kCUDA).dtype(at::kBFloat16));
}

at::Tensor floats(at::IntArrayRef sizes) {
  return at::ones(sizes, at::TensorOptions(at::kCUDA).dtype(at::kFloat));
}

double bytes_per_second(double bytes, const std::function<void()>& run) {
  for (int i = 0; i < 3; ++i) run();
  torch::cuda::synchronize();
  const double begin = now();
  for (int i = 0; i < kRuns; ++i) run();
  torch::cuda::synchronize();
  return kRuns * bytes / (now() - begin);
}

class Table {
 public:
  explicit Table(double bound) : bound_(bound) {
    std::printf("%-36s %8s %8s\n%-36s %8.0f %7.0f%%\n", "kernel", "GB/s", "of copy",
                "copy of 1 GiB", bound / 1e9, 100.0);
  }
  // `passes`: how often tensors of these bytes are read or written.
  void add(const char* name, double passes, const at::Tensor& one,
           const std::function<void()>& run) const {
    const double rate = bytes_per_second(passes * static_cast<double>(one.nbytes()), run);
    std::printf("%-36s %8.0f %7.0f%%\n", name, rate / 1e9, 100 * rate / bound_);
  }

 private:
  double bound_;
};

void add_norm(const Table& table, const Stream& stream) {
  const at::Tensor x = halves({kRows, kWidth}), y = at::empty_like(x), of_y = halves(x.sizes());
  const at::Tensor added = halves(x.sizes()), of_x = at::empty_like(x);
  const at::Tensor weight = floats({kWidth}), mean = floats({kRows}), scale = floats({kRows});
  const at::Tensor partial = floats({kernel::kPartialRows, 2, kWidth}), sums = floats({2, kWidth});
  const kernel::NormRows all{.x = x.const_data_ptr(),
                             .weight = weight.const_data_ptr<float>(),
                             .bias = weight.const_data_ptr<float>(),
                             .y = y.mutable_data_ptr(),
                             .mean = mean.mutable_data_ptr<float>(),
                             .scale = scale.mutable_data_ptr<float>(),
                             .rows = kRows,
                             .width = kWidth,
                             .epsilon = 1e-5F};
  table.add("layer norm", 2, x, [&] { kernel::norm(all, stream); });
  const kernel::NormGradient gradient{.forward = all,
                                      .of_y = of_y.const_data_ptr(),
                                      .added = added.const_data_ptr(),
                                      .of_x = of_x.mutable_data_ptr(),
                                      .partial = partial.mutable_data_ptr<float>(),
                                      .of_weight_bias = sums.mutable_data_ptr<float>()};
  table.add("layer norm and residual, backward", 4, x,
            [&] { kernel::norm_gradient(gradient, stream); });
}

void add_gelu(const Table& table, const Stream& stream) {
  const at::Tensor x = halves({kRows, 4 * kWidth}), y = at::empty_like(x), of_y = halves(x.sizes());
  const at::Tensor of_x = at::empty_like(x), bias = floats({4 * kWidth});
  const at::Tensor sums = floats({4 * kWidth}),
                   partial = floats({kernel::kPartialRows, 4 * kWidth});
  const kernel::GeluRows all{.x = x.const_data_ptr(),
                             .bias = bias.const_data_ptr<float>(),
                             .y = y.mutable_data_ptr(),
                             .rows = kRows,
                             .width = 4 * kWidth};
  table.add("bias and GELU", 2, x, [&] { kernel::bias_gelu(all, stream); });
  table.add("bias and GELU, backward", 3, x, [&] {
    kernel::bias_gelu_gradient(all, of_y.const_data_ptr(), of_x.mutable_data_ptr(),
                               partial.mutable_data_ptr<float>(), sums.mutable_data_ptr<float>(),
                               stream);
  });
  table.add("sum of rows", 1, x, [&] {
    kernel::column_sum(x.const_data_ptr(), kRows, 4 * kWidth, partial.mutable_data_ptr<float>(),
                       sums.mutable_data_ptr<float>(), stream);
  });
}

void add_heads(const Table& table, const Stream& stream) {
  const at::Tensor parts = halves({3, kRows, kWidth}), all = at::empty_like(parts);
  const auto part = [&](std::int64_t i) -> const void* {
    return parts.const_data_ptr<at::BFloat16>() + i * kRows * kWidth;
  };
  table.add("gradients of heads", 2, parts, [&] {
    const void* const from[] = {part(0), part(1), part(2)};
    kernel::join_three(from, kRows, kWidth, all.mutable_data_ptr(), stream);
  });
}

void add_entropy(const Table& table, const Stream& stream) {
  const at::Tensor logits = halves({kRows, kVocabulary}), out = at::empty_like(logits);
  const at::Tensor target =
      at::randint(kVocabulary, {kRows}, at::TensorOptions(at::kCUDA).dtype(at::kLong));
  const at::Tensor log_sum = floats({kRows}), loss = floats({kRows}), one = floats({});
  const kernel::EntropyRows all{.logits = logits.const_data_ptr(),
                                .target = target.const_data_ptr<std::int64_t>(),
                                .log_sum = log_sum.mutable_data_ptr<float>(),
                                .rows = kRows,
                                .classes = kVocabulary};
  table.add("cross entropy", 1, logits,
            [&] { kernel::entropy(all, loss.mutable_data_ptr<float>(), stream); });
  table.add("cross entropy, backward", 2, logits, [&] {
    kernel::entropy_gradient(all, one.const_data_ptr<float>(), out.mutable_data_ptr(), stream);
  });
}

}  // namespace

int measure_kernels() {
  const c10::InferenceMode guard;
  const at::Tensor from = halves({std::int64_t{1} << 29}), to = at::empty_like(from);
  const Table table(
      bytes_per_second(2 * static_cast<double>(from.nbytes()), [&] { to.copy_(from); }));
  const Stream stream = current_stream(from.device());
  add_norm(table, stream);
  add_gelu(table, stream);
  add_heads(table, stream);
  add_entropy(table, stream);
  return 0;
}

}  // namespace trireme::bench::gpu
