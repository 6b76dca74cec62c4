// Progress is how far a job has come: everything beside the tensors that a resumed job needs to go
// on as if nothing had happened. It travels in a checkpoint's meta as JSON.
//
// Randomness needs no state of its own: it is a function of the seed and these numbers.
//
// Failure: reading throws Corrupt for text that is not a progress, and for numbers that no job can
//          reach: negative counts, more updates than steps, a best step that is still to come.
// Torch:   not needed, so that `trireme checkpoint verify` can read it too.

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
  std::int64_t updates = 0;  // made; fewer than steps where some were skipped
  data::Position position{};
  std::vector<data::Returned> returned{};  // dealt before it, and not used yet
  std::int64_t samples = 0;
  double seconds = 0;        // spent on the whole job up to here, by all attempts
  std::int64_t planned = 0;  // steps of the whole job, which some learning rates follow; 0: unknown
  double loss_scale = 0;     // float16 only; 0: none yet
  std::int64_t loss_scale_good_steps = 0;
  std::string metric{};  // eval.metric, by which the best is known
  double best = std::numeric_limits<double>::quiet_NaN();
  std::int64_t best_step = -1;
  int evaluations_since_best = 0;
  optim::Plateau::State plateau{};  // where the rate drops on plateaus
  PrecisionSwitch::State precision{};
  std::string job_id{};    // see job_id.h
  std::string recipe{};    // the resolved configuration
  std::string job_hash{};  // of what a resumed job must have in common

  // As if nothing had been evaluated: bests by different metrics cannot be compared.
  void forget_best();

  std::string to_json() const;
  static Progress from_json(const std::string& json);
  // As from_json(). Corrupt where it is of another step than the checkpoint.
  static Progress from_meta(const std::string& meta, std::int64_t step);
};

}  // namespace trireme::train
