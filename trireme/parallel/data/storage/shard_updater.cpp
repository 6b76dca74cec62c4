#include "trireme/parallel/data/storage/shard_updater.h"

#include <algorithm>
#include <utility>

#include "trireme/optim/clip.h"

namespace trireme::parallel::data {

std::vector<Segment> segments_of(const BucketPlan::Bucket& bucket, ElementRange slice,
                                 std::span<const int> group_of,
                                 const std::function<bool(std::size_t)>& is_used) {
  std::vector<Segment> all;
  bool is_open = false;  // whether the last segment may be extended
  for (const BucketPlan::Entry& entry : bucket.entries) {
    const ElementRange part{std::max(entry.range.begin, slice.begin),
                            std::min(entry.range.end, slice.end)};
    const bool is_wanted = part.count() > 0 && is_used(entry.parameter);
    if (is_wanted && is_open && group_of[all.back().parameter] == group_of[entry.parameter]) {
      all.back().range.end = part.end;
    } else if (is_wanted) {
      all.push_back({.range = part, .parameter = entry.parameter});
    }
    is_open = (is_wanted && !bucket.is_whole) || (is_open && part.count() <= 0);
  }
  return all;
}

std::vector<optim::Slice> ShardUpdater::slices(Storage& storage, std::size_t bucket,
                                               const Shard& shard, double rate) const {
  const StorageLayout& layout = storage.layout();
  std::vector<optim::Slice> all;
  for (const Segment& segment :
       segments_of(layout.plan.buckets[bucket], storage.shard(bucket, shard.rank, shard.ranks),
                   *options_.groups, [&](std::size_t parameter) { return is_used_[parameter]; })) {
    const Parameter& like = (*options_.parameters)[segment.parameter];
    optim::Slice slice{.value = layout.values.at(bucket, segment.range),
                       .gradient = layout.reduced.at(bucket, segment.range),
                       .state = {},
                       .learning_rate = rate * like.lr_factor,
                       .weight_decay = like.weight_decay,
                       .first_step = like.first_update,
                       .rule = like.rule};
    for (const FlatSpace& state : layout.states) {
      slice.state.push_back(state.at(bucket, segment.range));
    }
    if (options_.has_whole_parameters) {
      slice.sizes = like.tensor.sizes().vec();
      slice.name = like.name;
    }
    all.push_back(std::move(slice));
  }
  return all;
}

void ShardUpdater::update(Storage& storage, std::size_t bucket, const Shard& shard,
                          const Update& how) {
  const std::vector<optim::Slice> mine = slices(storage, bucket, shard, how.learning_rate);
  if (!mine.empty()) {
    if (shard.max_grad_value > 0) optim::clip_by_value(mine, shard.max_grad_value, how.scale);
    reach(options_.faults, kUpdating, shard.fault_rank);
    options_.optimizer->update(mine, how.number, how.scale);
  }
  storage.write_copy(bucket, storage.shard(bucket, shard.rank, shard.ranks));
}

void ShardUpdater::update_all(Storage& storage, const Shard& shard, const Update& how,
                              Ledger::Page* page) {
  std::vector<optim::Slice> all;
  const std::size_t buckets = storage.layout().plan.buckets.size();
  for (std::size_t b = 0; b < buckets; ++b) {
    for (optim::Slice& slice : slices(storage, b, shard, how.learning_rate)) {
      all.push_back(std::move(slice));
    }
  }
  if (shard.max_grad_value > 0) optim::clip_by_value(all, shard.max_grad_value, how.scale);
  if (page != nullptr) {
    page->update(all, *options_.optimizer, how.number, how.scale, options_.faults,
                 shard.fault_rank);
  } else if (!all.empty()) {
    reach(options_.faults, kUpdating, shard.fault_rank);
    options_.optimizer->update(all, how.number, how.scale);
  }
  for (std::size_t b = 0; b < buckets; ++b) {
    storage.write_copy(b, storage.shard(b, shard.rank, shard.ranks));
  }
}

}  // namespace trireme::parallel::data
