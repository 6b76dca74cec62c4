// LossScale is dynamic loss scaling for float16, whose smallest numbers are too large for many
// gradients: the loss is multiplied by a scale before backward and gradients are divided by it
// after. The scale is halved where gradients overflowed, and that step is skipped; it is doubled
// after many steps that went well.
//
// Threads: one. Every rank sees the same outcomes and so keeps the same scale.

#pragma once

#include <cstdint>

namespace trireme::optim {

class LossScale {
 public:
  struct Options {
    double initial = 65536;
    double growth = 2;
    double backoff = 0.5;
    std::int64_t interval = 2000;  // good steps in a row before it grows
    double least = 1.0 / (1 << 14);
    double most = 16777216;
  };

  // What a checkpoint keeps.
  struct State {
    double scale = 65536;
    std::int64_t good_steps = 0;

    friend bool operator==(const State&, const State&) = default;
  };

  LossScale();
  explicit LossScale(const Options& options);

  double scale() const noexcept { return state_.scale; }
  // Whether it cannot get smaller: what overflows now is no matter of scale.
  bool is_least() const noexcept { return state_.scale <= options_.least; }
  // What gradients are to be multiplied by.
  double inverse() const noexcept { return 1.0 / state_.scale; }

  // After each backward; `is_finite` of all gradients of all ranks. Whether the step is to be made.
  bool update(bool is_finite) noexcept;

  const State& state() const noexcept { return state_; }
  void restore(const State& state) noexcept { state_ = state; }

 private:
  Options options_;
  State state_;
};

}  // namespace trireme::optim
