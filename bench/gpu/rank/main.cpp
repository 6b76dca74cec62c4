// trireme-bench-gpu: what `trireme bench gpu` measures. It can also be run by hand:
//
//   build/trireme-bench-gpu --model 124m --profile
//   build/trireme-bench-gpu --kernels
//
// It is an ordinary job of one rank with its own data, which reads the loss in every step; it
// prints a record in JSON.

#include <ATen/Context.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cstdio>

#include "bench/gpu/rank/kernels.h"
#include "bench/gpu/rank/profile.h"
#include "bench/gpu/record.h"
#include "bench/statistics.h"
#include "bench/train/rank/workload.h"
#include "bench/turns.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/train/job.h"

namespace trireme::bench::gpu {
namespace {

constexpr int kWarmSteps = 5;
constexpr int kProfiledSteps = 3;
constexpr std::size_t kPrintedKernels = 40;
constexpr std::size_t kPrintedPauses = 10;
constexpr std::int64_t kProductWidth = 8192;
constexpr int kProducts = 10;

void expect_gpu() {
  if (gpu_count() > 0) return;
  throw Error(ErrorCode::Unsupported,
              std::string("training on a GPU requires one, but ") +
                  (at::hasCUDA() ? "PyTorch finds none; check nvidia-smi and CUDA_VISIBLE_DEVICES"
                                 : "this build of PyTorch is for the CPU; build with another one "
                                   "(make build TORCH=/path/to/site-packages/torch)"));
}

trireme::train::Job open(const GpuCase& what) {
  const GptSize& size = gpt_named(what.model);
  const Workload workload = text_workload({.vocabulary = kVocabulary,
                                           .context = what.context,
                                           .width = size.width,
                                           .layers = size.layers,
                                           .heads = size.heads,
                                           .batch = what.sequences()});
  const trireme::train::Kinds kinds = kinds_for(workload, /*ranks=*/1);
  std::vector<std::string> settings = workload.settings;
  std::erase(settings, "data.num_workers=0");  // a thread reads ahead, as in any other job
  settings.insert(settings.end(), {"train.global_batch_size=" + std::to_string(workload.batch),
                                   "train.device=cuda", "train.precision=bf16", "optim.lr=3e-4",
                                   "optim.weight_decay=0.1", "optim.decay_all=true",
                                   "optim.max_grad_norm=" + std::to_string(what.max_grad_norm)});
  return trireme::train::open_job(
      config::read_config(trireme::train::recipe_schema(kinds), {.overrides = settings}), kinds);
}

// Steps until the time is over, and the seconds that they took.
double time_steps(trireme::train::Job& job, double seconds, std::int64_t& updates) {
  torch::cuda::synchronize();
  const double begin = now();
  do {
    job.step->run(updates++);
  } while (now() - begin < seconds);
  torch::cuda::synchronize();
  return now() - begin;
}

// The best that this GPU does; random numbers, because zeros take less power.
double flops_of_products() {
  const auto options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  const at::Tensor a = at::randn({kProductWidth, kProductWidth}, options);
  const at::Tensor b = at::randn({kProductWidth, kProductWidth}, options);
  at::Tensor product;
  double begin = 0;
  for (int i = -3; i < kProducts; ++i) {
    if (i == 0) {
      torch::cuda::synchronize();
      begin = now();
    }
    product = a.mm(b);
  }
  torch::cuda::synchronize();
  const auto width = static_cast<double>(kProductWidth);
  return kProducts * 2 * width * width * width / (now() - begin);
}

std::int64_t peak_bytes(at::DeviceIndex gpu) {
  const auto stats = c10::getDeviceAllocator(at::kCUDA)->getDeviceStats(gpu);
  return stats.allocated_bytes[0].peak;  // the first entry is the sum over all pools
}

// The time of the GPU is not needed for anything else, so a profiler that fails is only reported.
void add_activity(trireme::train::Job& job, bool is_printed, std::int64_t& updates,
                  GpuRecord& record) try {
  const Activity activity = profile([&] {
    for (int i = 0; i < kProfiledSteps; ++i) job.step->run(updates++);
    torch::cuda::synchronize();
  });
  record.busy_seconds_per_step = activity.busy_seconds / kProfiledSteps;
  if (!is_printed) return;
  std::puts(table_of(activity, kProfiledSteps, kPrintedKernels).c_str());
  std::puts(table_of_pauses(activity, kProfiledSteps, kPrintedPauses).c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "no profile: %s\n", error.what());
}

int run(const GpuOptions& what) {
  expect_gpu();
  if (what.is_of_kernels) return measure_kernels();
  trireme::train::Job job = open(what);
  GpuRecord record{.what = what, .who = kOurs, .precision = "autocast"};
  record.first_loss = job.step->run(0).loss;
  std::int64_t updates = 1;
  while (updates < kWarmSteps) job.step->run(updates++);
  const std::int64_t before = updates;
  const double seconds = time_steps(job, what.seconds, updates);
  record.steps = updates - before;
  record.seconds_per_step = seconds / static_cast<double>(record.steps);
  record.peak_bytes = peak_bytes(job.device.torch().index());
  add_activity(job, what.has_profile, updates, record);
  record.last_loss = job.step->run(updates).loss;
  record.bound_flops_per_second = flops_of_products();
  std::puts(to_json(record).c_str());
  return 0;
}

}  // namespace
}  // namespace trireme::bench::gpu

int main(int argc, char** argv) {
  using namespace trireme;
  cli::Command command("bench gpu", "Measure training of GPT-2 on one GPU",
                       "build/trireme-bench-gpu --model 124m --profile");
  const auto options = std::make_shared<bench::gpu::GpuOptions>();
  bench::gpu::add_case_options(command, options);
  command.action([options] {
    try {
      return bench::gpu::run(*options);
    } catch (const c10::Error& error) {
      throw Error(ErrorCode::Io, error.what_without_backtrace());
    }
  });
  return command.run(std::vector<std::string>(argv + 1, argv + argc));
}
