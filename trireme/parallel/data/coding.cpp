// What DataParallel sends to other hosts, as it is or encoded, and what it owes them.

#include "trireme/parallel/data/data_parallel.h"

namespace trireme::parallel::data {

void DataParallel::cross(std::size_t bucket) {
  const ElementRange range = is_in_hosts() && is_crossing_coded()
                                 ? layout_->plan.buckets[bucket].range
                                 : layout_->own[bucket];
  const at::Tensor own = layout_->reduced.at(bucket, range);
  if (is_crossing_coded()) return exchange_->launch(bucket, own, own);
  crossing_.push_back(comm::all_reduce(options_.across, own, comm::ReduceOp::Sum,
                                       {.label = "slice of " + std::to_string(bucket)}));
}

// Of a step before the codec begins: what it will encode goes as it is.
Traffic DataParallel::plain_traffic() const {
  std::int64_t count = 0;
  for (const ElementRange& own : layout_->own) count += own.count();
  if (is_sliced() && !is_crossing()) count = layout_->plan.count - count;
  if (is_in_hosts()) count = is_crossing() ? layout_->plan.count : 0;
  const auto size = count * static_cast<std::int64_t>(sizeof(float));
  return {.plain = size, .sent = size};
}

std::vector<checkpoint::Piece> DataParallel::own_pieces() {
  if (!layout_) lay_out(order_of({}, options_.parameters.size()));
  return exchange_ ? exchange_->own_pieces() : std::vector<checkpoint::Piece>{};
}

void DataParallel::restore_own(const checkpoint::Checkpoint& from) {
  if (!layout_) lay_out(order_of({}, options_.parameters.size()));
  if (exchange_) exchange_->restore(from);
}

}  // namespace trireme::parallel::data
