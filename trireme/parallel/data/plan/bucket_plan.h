// BucketPlan assigns a bucket and a range of elements to each parameter's gradient. Parameters fill
// buckets in the order in which their gradients are computed, so that a bucket is complete early
// and can be sent while later gradients are still being computed.
//
// Layout:        buckets are contiguous in one flat space. Every parameter begins at a multiple of
//                kAlignment elements. Within a bucket, parameters with the same update settings are
//                adjacent. A bucket can be divided into aligned shards for any number of ranks, so
//                the plan does not change with the world size. If update rules need whole
//                parameters, shards end between parameters.
// Thread safety: a value; the functions are pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trireme::parallel::data {

inline constexpr std::int64_t kAlignment = 16;  // elements: 64 bytes of float32

struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t count() const noexcept { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

// The intersection; if it is empty, its count may be negative.
inline ElementRange common(const ElementRange& a, const ElementRange& b) noexcept {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

struct BucketPlan {
  struct Parameter {
    std::int64_t count = 0;
    int group = 0;  // parameters of a group have the same update settings
    int unit = 0;   // a bucket holds parameters of one unit only
  };
  struct Entry {
    std::size_t parameter = 0;
    ElementRange range;  // in the flat space, without padding
  };
  struct Bucket {
    ElementRange range;
    std::vector<Entry> entries;
    bool is_whole = false;  // shards end between parameters

    // The shard of this rank. Shards differ in size by at most kAlignment elements or, if shards
    // end between parameters, by about half of the parameter at the boundary.
    ElementRange slice(int rank, int ranks) const noexcept {
      return {bound(rank, ranks), bound(rank + 1, ranks)};
    }
    // The first element of this rank's shard.
    std::int64_t bound(int rank, int ranks) const noexcept;
    // The sizes of all ranks' shards.
    std::vector<std::size_t> slice_counts(int ranks) const;
  };
  struct Options {
    std::int64_t bucket_count = 1 << 20;  // elements; one parameter may exceed it
    bool is_whole = false;                // shards end between parameters
  };

  std::vector<Bucket> buckets;
  std::int64_t count = 0;              // elements of the flat space
  std::vector<std::size_t> bucket_of;  // by parameter
  std::vector<ElementRange> range_of;  // by parameter

  // `order`: every parameter once, the earliest gradient first.
  static BucketPlan make(std::span<const Parameter> parameters, std::span<const std::size_t> order,
                         const Options& options);
};

// Each of `count` parameters once: first in the order in which their gradients arrived, then those
// without a gradient in reverse order, which is the usual order of backward.
std::vector<std::size_t> order_of(std::span<const std::size_t> arrival, std::size_t count);

}  // namespace trireme::parallel::data
