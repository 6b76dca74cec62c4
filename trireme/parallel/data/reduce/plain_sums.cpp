#include "trireme/parallel/data/reduce/plain_sums.h"

#include <ATen/ops/empty.h>

namespace trireme::parallel::data {

void AllReduceSum::launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) {
  if (out.const_data_ptr() != values.const_data_ptr()) out.copy_(values);
  add(comm::all_reduce(group_, out, op_, label(bucket)));
}

void ReduceScatterSum::launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) {
  add(comm::reduce_scatter(group_, out, values, plan_.buckets[bucket].slice_counts(group_.size()),
                           comm::ReduceOp::Sum, label(bucket)));
}

void WholeSum::launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) {
  const ElementRange whole = layout_.plan.buckets[bucket].range;
  if (!sums_.defined()) sums_ = at::empty({layout_.plan.count}, values.options());
  const at::Tensor sum = sums_.narrow(0, whole.begin, whole.count());
  sum.copy_(values);
  outs_.push_back(out);
  add(comm::all_reduce(group_, sum, comm::ReduceOp::Sum, label(bucket)));
}

void WholeSum::finish(std::size_t bucket) {
  PlainSum::finish(bucket);
  const ElementRange own = layout_.own[bucket];
  outs_[bucket].copy_(sums_.narrow(0, own.begin, own.count()));
}

void WholeSum::forget() {
  PlainSum::forget();
  outs_.clear();
}

}  // namespace trireme::parallel::data
