#include "bench/train/rank/communication.h"

#include <algorithm>
#include <limits>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/data/storage/flat_memory.h"
#include "trireme/train/report/step_times.h"

namespace trireme::bench {
namespace {

constexpr int kRounds = 3;

struct Flat {
  at::Tensor gradients, values, slice;
};

// Buckets are sharded separately: every rank owns an equal part of each bucket, as in training.
void exchange_bucket(const comm::Group& group, const GradientExchange& how, const Flat& flat,
                     std::int64_t begin, std::int64_t count) {
  const at::Tensor gradients = flat.gradients.narrow(0, begin, count);
  if (how.sync == "all_reduce") {
    comm::all_reduce(group, gradients, comm::ReduceOp::Sum).wait();
    return;
  }
  const std::int64_t share = count / group.size();
  const at::Tensor slice = flat.slice.narrow(0, 0, share);
  comm::reduce_scatter(group, slice, gradients, comm::ReduceOp::Sum).wait();
  int gathers = 0;
  // With one copy of the weights per host, no rank gathers them.
  if (!group.arena()) gathers = how.sync == "zero3" ? 2 : how.sync == "shared" ? 0 : 1;
  for (int i = 0; i < gathers; ++i) {
    comm::all_gather(group, flat.values.narrow(0, begin, count), slice).wait();
  }
}

}  // namespace

double communication_alone(const comm::Group& group, const GradientExchange& exchange) {
  if (group.size() == 1) return 0;
  const std::int64_t ranks = group.size();
  const auto up = [&](std::int64_t count) { return (count + ranks - 1) / ranks * ranks; };
  const std::int64_t bucket = up(std::max<std::int64_t>(exchange.bucket / 4, 1));
  const std::int64_t whole = up(exchange.parameters);
  const Flat flat{.gradients = parallel::data::private_flat(group, whole, at::kFloat),
                  .values = parallel::data::private_flat(group, whole, at::kFloat),
                  .slice = parallel::data::private_flat(group, bucket, at::kFloat)};
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    group.barrier().wait();
    trireme::train::Stopwatch watch;
    for (std::int64_t begin = 0; begin < whole; begin += bucket) {
      exchange_bucket(group, exchange, flat, begin, std::min(bucket, whole - begin));
    }
    best = std::min(best, watch.lap());
  }
  return best;
}

}  // namespace trireme::bench
