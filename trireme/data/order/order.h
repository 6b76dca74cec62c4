// Order determines which sample comes k-th in an epoch: a keyed permutation of 0 .. count-1. It is
// computed and never stored, so that every rank gets the same result by itself, also after a
// restart.
//
// Semantics:     a Feistel network over the next power of two, keyed by Philox, applied repeatedly
//                until the result is below `count`. Without shuffling, sample k is k.
// Cost:          about 90 ns per sample and no memory, for any count.
// Thread safety: pure functions; any thread.
// Errors:        Misuse for a negative count and for k outside [0, count).

#pragma once

#include <cstdint>

namespace trireme::data {

class Order {
 public:
  Order(std::uint64_t seed, std::int64_t count, bool is_shuffled = true);

  std::int64_t count() const noexcept { return count_; }
  std::int64_t sample(std::int64_t epoch, std::int64_t k) const;

 private:
  std::uint64_t seed_;
  std::int64_t count_;
  bool is_shuffled_;
  int low_bits_ = 0;
  int high_bits_ = 0;
};

}  // namespace trireme::data
