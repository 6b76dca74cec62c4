// GradientSync is a synchronization strategy: how the ranks of a job arrive at the same update from
// gradients that each of them computed.
//
// One step, as its caller writes it:
//
//   sync.begin_step(plan);                     // parameters are current from here on
//   for (each micro-batch of this rank) {
//     sync.begin_micro_batch(index);
//     loss.backward();                         // gradients are taken as they are produced
//     sync.end_micro_batch();
//   }
//   Gradients all = sync.reduce({loss});       // over all micro-batches of all ranks
//   sync.update(how);                          // or drop()
//
// When reduce() returns, every rank holds its part of the step (prepare); nothing of the model's
// state has changed yet, unless `plan.early` allowed it.
//
// The other roles of a strategy are separate interfaces: passes() for forward and backward, model()
// for readers of the weights between steps, saved() for checkpoints, and ElasticSync, which a
// strategy implements if it survives the loss of ranks.
//
// Errors:        what Group throws. The step is then neither complete nor undone on this rank;
//                recovery decides.
// Thread safety: one thread, the one that runs backward.
// Lifetime:      the model must outlive its synchronization, whose destructor removes its hooks.

#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/parallel/common_model.h"
#include "trireme/parallel/pass_services.h"
#include "trireme/parallel/saved_state.h"

namespace trireme::parallel {

struct Update {
  std::int64_t number = 1;  // of this update, from 1
  double rate = 0;          // learning rate, before a parameter's own factor
  double scale = 1;         // multiplied into the gradients: clipping, loss scaling
};

struct StepPlan {
  std::int64_t step = 0;     // of the job, from 0; dropped steps count, too
  bool is_repeated = false;  // a death interrupted the last attempt
  // Of a repeated step: the number of micro-batches of the last attempt. This attempt has the same
  // ones, or whole pieces of them, and keeps those whose gradients are there (has_micro_batch()).
  // 0: nothing is kept. kOthersKeep: this rank keeps nothing, because its last attempt had another
  // assignment of micro-batches.
  int kept_micro_batches = 0;
  static constexpr int kOthersKeep = -1;
  int micro_batch_count = 1;             // of the global batch
  std::vector<int> micro_batches = {0};  // this replica's, ascending
  std::vector<int> owners = {0};         // by micro-batch: the data-parallel replica that runs it
  bool is_norm_wanted = false;
  bool is_checked = false;    // reduce() reports whether the gradients are finite
  int left_out_max = 0;       // how many stragglers the step may be committed without
  double max_grad_value = 0;  // update() limits every element to this; 0: no limit
  // Set if nothing can veto the step: each parameter may then be updated while backward still
  // runs.
  std::optional<Update> early = std::nullopt;
};

// Further sums over all ranks besides the loss; the caller defines their meaning.
using ReportedSums = std::array<double, 4>;

// What a rank contributes to a step besides gradients.
struct Share {
  double loss = 0;
  ReportedSums reported{};
  bool is_stop_wanted = false;    // this rank was asked to end
  bool is_change_wanted = false;  // ranks wait to join or leave
  double terms = 0;               // number of terms of its loss; needed if ranks may be left out
};

// Thrown from the passes of a micro-batch if the step is committed without this rank: call
// leave_out().
struct Late : std::exception {
  const char* what() const noexcept override { return "this step goes on without this rank"; }
};

// Bytes that this rank sent in a step, before and after encoding, counted once however many ranks
// receive them; 0: not counted.
struct Traffic {
  std::int64_t plain = 0;
  std::int64_t sent = 0;

  Traffic& operator+=(const Traffic& other) noexcept {
    plain += other.plain;
    sent += other.sent;
    return *this;
  }
};

struct Gradients {
  double loss = 0;                // the sum over all ranks
  ReportedSums reported{};        // likewise
  bool is_stop_wanted = false;    // a rank was asked to end: all ranks end after this step
  bool is_change_wanted = false;  // ranks wait to join or leave
  double norm = 0;                // of the whole gradient, if the plan asked for it
  bool is_finite = true;
  Traffic traffic{};
  std::vector<bool> is_left_out{};  // by rank; empty: no rank is
  double share = 1;                 // of the loss's terms that the other ranks contributed
};

class GradientSync {
 public:
  virtual ~GradientSync() = default;

  virtual void begin_step(const StepPlan& plan) = 0;
  // Whether this micro-batch's gradients are there already, from an earlier attempt of the step.
  virtual bool has_micro_batch(int /*micro_batch*/) const { return false; }
  virtual void begin_micro_batch(std::size_t index) = 0;
  virtual void end_micro_batch() = 0;
  virtual Gradients reduce(const Share& mine) = 0;
  // None of this rank's micro-batches counts in this step.
  virtual void leave_out() {}
  // The sum of a number over the ranks that share a batch. A collective.
  virtual double total(double mine) { return mine; }
  virtual void update(const Update& how) = 0;
  // Discards the step's gradients.
  virtual void drop() = 0;

  virtual PassServices passes() { return {}; }
  virtual CommonModel& model() = 0;
  virtual SavedState& saved() = 0;
};

}  // namespace trireme::parallel
