// StorageLayout is the memory of a data-parallel model: values, gradients and optimizer state, all
// in the order of one BucketPlan.
//
// Each FlatSpace is either the whole flat space, or only this rank's shards of it (is_compact);
// at() finds a range of the flat space in both cases. Gradients that are not reduced yet are in
// GradientBuckets.
//
// Thread safety: a value; its tensors are shared.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/parallel/data/plan/bucket_plan.h"

namespace trireme::parallel::data {

// A tensor that holds the flat space, or only this rank's shards of it.
struct FlatSpace {
  at::Tensor memory;
  bool is_compact = false;
  std::vector<std::int64_t> shift;  // by bucket, if compact: begin in flat space - begin in memory

  at::Tensor at(std::size_t bucket, const ElementRange& range) const {
    const std::int64_t begin = is_compact ? range.begin - shift[bucket] : range.begin;
    return memory.narrow(0, begin, range.count());
  }
};

// The offsets of a rank's shards in compact memory, by bucket, and its size.
struct CompactPlan {
  std::vector<std::int64_t> shift;
  std::int64_t count = 0;

  CompactPlan(const BucketPlan& plan, int rank, int ranks) {
    for (const BucketPlan::Bucket& bucket : plan.buckets) {
      const ElementRange slice = bucket.slice(rank, ranks);
      shift.push_back(slice.begin - count);
      count += slice.count();
    }
  }
};

struct StorageLayout {
  BucketPlan plan;
  std::vector<ElementRange> own;  // by bucket: what this rank updates
  FlatSpace values;
  FlatSpace copies;   // of values, in the type that passes read; undefined if not used
  FlatSpace reduced;  // gradients, summed over all ranks
  std::vector<FlatSpace> states;
};

}  // namespace trireme::parallel::data
