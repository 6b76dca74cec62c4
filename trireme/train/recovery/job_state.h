// JobState is the state of a job that is equal on all ranks between two steps, without tensors. A
// recovery sends it to all ranks.
//
// Errors:        from_json() throws for text that is not a state.
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/train/recipe/data_digest.h"
#include "trireme/train/report/progress.h"

namespace trireme::train {

// What a recovery decides about the next step.
struct NextStep {
  bool is_repeated = false;             // it was begun before
  std::uint64_t assignment = 0;         // whose gradients are reused; see Turn
  int micro_batches = 0;                // when it was first begun
  int redone = 0;                       // the micro-batches whose gradients are lost
  std::vector<int> owners{};            // by micro-batch
  std::vector<std::int64_t> weights{};  // of the micro-batches; empty: all have the same size
};

struct JobState {
  Progress progress;
  std::int64_t attended_at = 0;  // the last step whose evaluation and checkpoint are done
  std::int64_t evaluated_at = -1;
  std::int64_t saved_at = -1;
  std::optional<double> score{};  // by eval.metric, of the current weights
  bool is_score_saved = false;
  bool is_open = false;  // all ranks have begun the job, or have read its checkpoint
  bool is_stopping = false;
  std::optional<double> broken_loss{};  // of a step that was not finite and is not yet handled
  int not_finite = 0;                   // such steps in a row
  double peak_flops = 0;                // of one rank, as measured
  DataDigest data{};                    // of the training data
  NextStep next{};

  std::string to_json() const;
  static JobState from_json(const std::string& json);
  // Throws Mismatch if `all`, the state of rank `source`, is at another step than this state. The
  // steps are not compared if `all` is not open: when a worker fails during a resume, some ranks
  // have read the checkpoint and others have not.
  void expect_steps_of(const JobState& all, std::int64_t source) const;
};

}  // namespace trireme::train
