// Progress is the state that a resumed job needs in addition to its tensors, to continue as if it
// had not been interrupted. It is stored as JSON in a checkpoint's metadata.
//
// Random number generators have no state here: randomness is a function of the seed and these
// numbers. This file does not need torch, so that `trireme checkpoint verify` can use it.
//
// Errors:        reading throws Corrupt for text that is not a progress, and for numbers that no
//                job can reach: negative counts, more updates than steps, a best step in the
//                future.
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "trireme/data/order/position.h"
#include "trireme/data/order/returned.h"
#include "trireme/optim/schedule/plateau.h"
#include "trireme/train/precision_switch.h"

namespace trireme::train {

struct Progress {
  std::int64_t step = 0;     // batches used
  std::int64_t updates = 0;  // made; fewer than steps if some were skipped
  data::Position position{};
  std::vector<data::Returned> returned{};  // samples before the position that were not yet used
  std::int64_t samples = 0;
  double seconds = 0;        // of the whole job so far, over all runs
  std::int64_t planned = 0;  // steps of the whole job, for learning rate schedules; 0: unknown
  double loss_scale = 0;     // float16 only; 0: none yet
  std::int64_t loss_scale_good_steps = 0;
  std::string metric{};  // eval.metric, which decides on the best evaluation
  double best = std::numeric_limits<double>::quiet_NaN();
  std::int64_t best_step = -1;
  int evaluations_since_best = 0;
  optim::Plateau::State plateau{};  // of schedule.kind = "reduce_on_plateau"
  PrecisionSwitch::State precision{};
  std::string job_id{};    // see job_id.h
  std::string recipe{};    // the resolved configuration
  std::string job_hash{};  // of the settings that a resumed job must have in common

  // Forgets all evaluations, because scores by different metrics cannot be compared.
  void forget_best();

  std::string to_json() const;
  static Progress from_json(const std::string& json);
  // Like from_json(), but throws Corrupt if the step is not that of the checkpoint.
  static Progress from_meta(const std::string& meta, std::int64_t step);
};

}  // namespace trireme::train
