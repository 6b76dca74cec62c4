// Plateau lowers the learning rate when evaluations do not improve, like PyTorch's
// ReduceLROnPlateau with its relative threshold. It contains only settings; its history is a State,
// which is part of the job's progress.
//
// Thread safety: pure functions; any thread. Every rank sees the same metrics and therefore has the
// same state.

#pragma once

#include <cstdint>
#include <limits>

namespace trireme::optim {

class Plateau {
 public:
  struct Options {
    double factor = 0.1;
    std::int64_t patience = 10;  // evaluations
    double threshold = 1e-4;     // relative improvement that counts
    std::int64_t cooldown = 0;   // evaluations
    double min_lr_factor = 0;
    bool is_larger_better = false;
  };

  struct State {
    double factor = 1;  // multiplies the schedule's learning rate
    double best = std::numeric_limits<double>::quiet_NaN();  // none yet
    std::int64_t bad = 0;      // consecutive evaluations without improvement
    std::int64_t cooling = 0;  // remaining evaluations of the cooldown
  };

  explicit Plateau(const Options& options);

  // The state after an evaluation. A metric that is NaN never counts as an improvement.
  State after(State state, double metric) const noexcept;

 private:
  bool is_better(double metric, double best) const noexcept;

  Options options_;
};

}  // namespace trireme::optim
