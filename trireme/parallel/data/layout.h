// Layout is the memory of a data-parallel model: values, gradients and optimizer state, all in the
// order of one BucketPlan.
//
// What lies where: each space is either the whole flat space, or this rank's slices of it end to
// end (is_compact); at() finds a range of the flat space in either. GradientBuckets has the
// gradients that are not yet reduced.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/parallel/data/bucket_plan.h"

namespace trireme::parallel::data {

// A tensor that holds the flat space, or this rank's slices of it alone.
struct FlatSpace {
  at::Tensor memory;
  bool is_compact = false;
  std::vector<std::int64_t> shift;  // by bucket, of compact memory: flat begin - place in memory

  at::Tensor at(std::size_t bucket, const ElementRange& range) const {
    const std::int64_t begin = is_compact ? range.begin - shift[bucket] : range.begin;
    return memory.narrow(0, begin, range.count());
  }
};

// Where the compact memory of a rank begins for each bucket, and how large it is.
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

struct Layout {
  BucketPlan plan;
  std::vector<ElementRange> own;  // by bucket: what this rank updates
  FlatSpace values;
  FlatSpace copies;   // of values, in the type that passes read; or none
  FlatSpace reduced;  // gradients, of all ranks
  std::vector<FlatSpace> states;
};

}  // namespace trireme::parallel::data
