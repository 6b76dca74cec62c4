// Plateau lowers the learning rate when evaluations get no better, as PyTorch's ReduceLROnPlateau
// with its relative threshold. It is a rule and holds settings only: what it knows of the past is
// a State, which a job's progress keeps.
//
// Threads: pure. Every rank sees the same metrics and so comes to the same state.

#pragma once

#include <cstdint>
#include <limits>

namespace trireme::optim {

class Plateau {
 public:
  struct Options {
    double factor = 0.1;
    std::int64_t patience = 10;  // evaluations
    double threshold = 1e-4;     // share by which one must be better
    std::int64_t cooldown = 0;   // evaluations
    double final_factor = 0;
    bool is_larger_better = false;
  };

  struct State {
    double factor = 1;                                       // of the schedule's rate
    double best = std::numeric_limits<double>::quiet_NaN();  // none yet
    std::int64_t bad = 0;                                    // in a row
    std::int64_t cooling = 0;                                // evaluations that are left
  };

  explicit Plateau(const Options& options);

  // After an evaluation. A metric that is not a number is no better than any.
  State after(State state, double metric) const noexcept;

 private:
  bool is_better(double metric, double best) const noexcept;

  Options options_;
};

}  // namespace trireme::optim
