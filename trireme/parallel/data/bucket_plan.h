// BucketPlan says where each parameter's gradient lies: in which bucket, from which element on.
// Parameters fill buckets in the order in which their gradients arrive, so that a bucket is whole
// early and can travel while later gradients are still being computed.
//
// Layout:  buckets lie end to end in one flat space. Every parameter begins at a multiple of
//          kAlignment elements. Inside a bucket, parameters that are updated alike lie together. A
//          bucket cuts into slices for any number of ranks, each aligned too: the plan stays as it
//          is when ranks come and go. Where rules need whole parameters, slices end between them.
// Threads: pure.

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

// What lies in both; its count may be negative where nothing does.
inline ElementRange common(const ElementRange& a, const ElementRange& b) noexcept {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

struct BucketPlan {
  struct Parameter {
    std::int64_t count = 0;
    int group = 0;  // of those that are updated alike
    int unit = 0;   // no bucket holds parameters of two
  };
  struct Entry {
    std::size_t parameter = 0;
    ElementRange range;  // in the flat space, without padding
  };
  struct Bucket {
    ElementRange range;
    std::vector<Entry> entries;
    bool is_whole = false;  // whether no slice cuts a parameter

    // Rank's share of it: as many as any other's, give or take kAlignment or, where parameters are
    // whole, half of the one that lies on the bound.
    ElementRange slice(int rank, int ranks) const noexcept {
      return {bound(rank, ranks), bound(rank + 1, ranks)};
    }
    // Where the slice of this rank begins.
    std::int64_t bound(int rank, int ranks) const noexcept;
    // Of all ranks' slices.
    std::vector<std::size_t> slice_counts(int ranks) const;
  };
  struct Options {
    std::int64_t bucket_count = 1 << 20;  // elements; one parameter may exceed it
    bool is_whole = false;                // slices end between parameters
  };

  std::vector<Bucket> buckets;
  std::int64_t count = 0;              // of the flat space
  std::vector<std::size_t> bucket_of;  // by parameter
  std::vector<ElementRange> range_of;  // by parameter

  // `order`: every parameter once, earliest gradient first.
  static BucketPlan make(std::span<const Parameter> parameters, std::span<const std::size_t> order,
                         const Options& options);
};

// Every one of `count` parameters once: in the order of their first arrival, then those that never
// came, the last layer's first, as their gradients are born as a rule.
std::vector<std::size_t> order_of(std::span<const std::size_t> arrival, std::size_t count);

}  // namespace trireme::parallel::data
