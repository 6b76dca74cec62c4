// Joint is the codec of a bucket that is sharded over several ranks. The ranks send the k largest
// values of the whole bucket, wherever they are, instead of a fixed number per shard.
//
//   nominate()    each rank: the magnitudes of the k largest values of its shard, sent to all ranks
//   quota_of()    each rank: how many of the k largest of all nominations are its own
//   encode()      each rank: sends that many values of its shard (Draw::quota)
//
// Of values with exactly equal magnitude, those of lower ranks come first. NaN and infinity count
// as larger than all finite values.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trireme/codec/codec.h"

namespace trireme::codec {

class Joint : public Codec {
 public:
  // How many of `count` values, counted over all shards, are sent.
  virtual std::size_t picked_of(std::size_t count) const = 0;
};

// The magnitudes of the k largest of values + residual, or of all values if there are fewer.
// `residual` is the error-feedback residual and may be empty.
std::vector<float> nominate(std::span<const float> values, std::span<const float> residual,
                            std::size_t k);

// `nominations` holds those of all ranks one after the other, `counts` their number per rank.
// REQUIRES: k is at most the number of nominations.
std::size_t quota_of(std::span<const float> nominations, std::span<const std::size_t> counts,
                     std::size_t rank, std::size_t k);

}  // namespace trireme::codec
