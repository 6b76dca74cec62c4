// LossScale is dynamic loss scaling for float16, in which many gradients would underflow: the loss
// is multiplied by a scale before backward and gradients are divided by it afterwards. If gradients
// overflow, the step is skipped and the scale is halved; after many good steps it is doubled.
//
// Thread safety: one thread. Every rank sees the same outcomes and therefore has the same scale.

#pragma once

#include <cstdint>

namespace trireme::optim {

class LossScale {
 public:
  struct Options {
    double initial = 65536;
    double growth = 2;
    double backoff = 0.5;
    std::int64_t interval = 2000;  // consecutive good steps before the scale grows
    double least = 1.0 / (1 << 14);
    double most = 16777216;
  };

  // The part that is saved in a checkpoint.
  struct State {
    double scale = 65536;
    std::int64_t good_steps = 0;

    friend bool operator==(const State&, const State&) = default;
  };

  LossScale();
  explicit LossScale(const Options& options);

  double scale() const noexcept { return state_.scale; }
  // Whether the scale cannot decrease further: an overflow now has another cause.
  bool is_least() const noexcept { return state_.scale <= options_.least; }
  // What gradients must be multiplied by.
  double inverse() const noexcept { return 1.0 / state_.scale; }

  // Call after each backward, with whether all gradients of all ranks are finite. Returns whether
  // to make the step.
  bool update(bool is_finite) noexcept;

  const State& state() const noexcept { return state_; }
  void restore(const State& state) noexcept { state_ = state; }

 private:
  Options options_;
  State state_;
};

}  // namespace trireme::optim
