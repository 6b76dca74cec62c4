// Joint is the codec of a bucket that several ranks hold in slices, of which they send the largest
// values together: so many of the whole bucket, wherever they lie, and not so many of each slice.
//
//   nominate()    each rank: the magnitudes of the k largest of its slice, which all others hear
//   quota_of()    each rank: how many of the k largest of all nominations are its own
//   encode()      each rank: sends so many of its slice (Draw::quota)
//
// Of values that are exactly as large those of lower ranks come first. NaN and infinity are larger
// than the rest.
//
// Threads: pure.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trireme/codec/codec.h"

namespace trireme::codec {

class Joint : public Codec {
 public:
  // How many of `count` values, those of all slices, are sent.
  virtual std::size_t picked_of(std::size_t count) const = 0;
};

// Magnitudes of the k largest of values + owed, or of all where there are fewer. Nothing may be
// owed at all.
std::vector<float> nominate(std::span<const float> values, std::span<const float> owed,
                            std::size_t k);

// `nominations` of all ranks end to end, `counts` of them by rank.
// REQUIRES: k is no more than there are nominations.
std::size_t quota_of(std::span<const float> nominations, std::span<const std::size_t> counts,
                     std::size_t rank, std::size_t k);

}  // namespace trireme::codec
