// Optimizer is a rule that turns gradients into new values. It holds settings and nothing else:
// values, gradients and state belong to the caller, who keeps them where ranks can share them and
// cuts them into slices as the rule's grain allows.
//
// Threads: any; distinct slices may be updated at once.
// Failure: Misuse for slices whose tensors do not match.
//
// State begins as zeros. Updating a run of elements whole, or cut at multiples of kSliceGrid from
// its first element, gives equal bits; other cuts may differ in the last one, since kernels round
// a vector's elements and what is left over at a slice's end differently.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/optim/slice.h"

namespace trireme::optim {

// A multiple of every vector's width; see above.
inline constexpr std::int64_t kSliceGrid = 64;

enum class Grain {
  Element,      // a slice may begin and end anywhere
  WholeTensor,  // a slice is one parameter: the rule takes norms of it, or products with it
};

// Guard is shown what is about to change, run by run, so that it can be put back.
class Guard {
 public:
  virtual ~Guard() = default;
  // Elements of a slice that change next: every one of every slice, once, in order, also where it
  // stays as it is. All those it was shown before have changed.
  virtual void before(const Slice& slice, std::int64_t begin, std::int64_t count) = 0;
};

// The longest run of a rule whose slices may be cut; others take a slice as one.
inline constexpr std::int64_t kRunMax = std::int64_t{1} << 15;

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  virtual Grain grain() const noexcept = 0;
  // "exp_avg", "exp_avg_sq": what the rule keeps of each element, named as PyTorch does.
  virtual std::vector<std::string> state_names() const = 0;

  // `step` counts from 1. Gradients are taken times `gradient_scale`: clipping, loss scale, a mean.
  virtual void update(std::span<const Slice> slices, std::int64_t step,
                      double gradient_scale = 1.0) const = 0;
  // The same, bit for bit, on one thread: each run of at most kRunMax elements, or slice, is shown
  // to `guard` first, in their order. Slices may begin at a multiple of kSliceGrid of what they
  // were: that is how an update that was cut short goes on.
  virtual void update(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                      Guard& guard) const;
};

}  // namespace trireme::optim
