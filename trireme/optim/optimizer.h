// Optimizer is an update rule for parameters. It contains only settings: values, gradients and
// state belong to the caller, which keeps them where ranks can share them and cuts them into slices
// as the rule's grain allows.
//
// Thread safety: any thread; different slices may be updated at once.
// Errors:        Misuse for slices whose tensors do not match.
//
// State starts at zero. Updating a range of elements as a whole, or cut at multiples of kSliceGrid
// from its first element, gives bitwise identical results. Other cuts may differ in the last bit,
// because kernels round the elements of full vectors and the remainder at the end of a slice
// differently.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/optim/slice.h"

namespace trireme::optim {

// A multiple of every vector width; see above.
inline constexpr std::int64_t kSliceGrid = 64;

enum class Grain {
  Element,      // a slice may begin and end anywhere
  WholeTensor,  // a slice is one parameter: the rule uses its norm, or products with it
};

// Guard is notified of each range before it changes, so that it can be restored.
class Guard {
 public:
  virtual ~Guard() = default;
  // Called before these elements of a slice change: for every element of every slice, once, in
  // order, even if its value stays the same. All elements of earlier calls have changed already.
  virtual void before(const Slice& slice, std::int64_t begin, std::int64_t count) = 0;
};

// The longest range that is updated at once if slices may be cut; otherwise a range is a whole
// slice.
inline constexpr std::int64_t kRunMax = std::int64_t{1} << 15;

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  virtual Grain grain() const noexcept = 0;
  // "exp_avg", "exp_avg_sq": the state that the rule keeps per element, with PyTorch's names.
  virtual std::vector<std::string> state_names() const = 0;

  // `step` counts from 1. Gradients are multiplied by `gradient_scale`: clipping, loss scale, a
  // mean.
  //
  // With a guard the result is bitwise identical, on one thread: the guard is notified before each
  // range of at most kRunMax elements, or slice, in order. Slices may begin at a multiple of
  // kSliceGrid of the original slice, to continue an unfinished update.
  void update(std::span<const Slice> slices, std::int64_t step, double gradient_scale = 1.0,
              Guard* guard = nullptr) const;

 private:
  // Does what update() describes. `guard` is null unless notifies_guard().
  virtual void run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                   Guard* guard) const = 0;
  // Whether run() notifies a guard itself; otherwise it is called for each range, after the guard.
  virtual bool notifies_guard() const noexcept { return false; }
};

}  // namespace trireme::optim
