// GradientSync is how the ranks of a job come to the same update from gradients that each computed
// for itself: one interface for all-reduce, one shared copy, ZeRO, and a job of one.
//
// A step, as its caller writes it:
//
//   gradient_sync.begin_step(plan);              // parameters are current from here on
//   for (each of this rank's slots) {
//     gradient_sync.begin_micro_batch(index);
//     loss.backward();                       // gradients are taken as they are born
//     gradient_sync.end_micro_batch();
//   }
//   Gradients all = gradient_sync.reduce({loss}); // of all slots of all ranks; all ranks are here
//   gradient_sync.update(how);                   // or drop()
//
// After reduce() every rank is known to hold its share of the step (prepare); nothing of the
// model's state has changed yet, unless `plan.early` allowed it.
//
// Failure:  what Group throws. The step is then neither done nor undone on this rank; recovery
//           decides.
// Threads:  one, the one that runs backward.
// Lifetime: the model outlives its agreement, which takes its hooks off when it ends.

#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/state.h"
#include "trireme/comm/group.h"
#include "trireme/model/interruption.h"
#include "trireme/model/layer/gradient_buffers.h"
#include "trireme/model/layer/low_precision_weights.h"

namespace trireme::parallel {

struct Update {
  std::int64_t number = 1;  // of this update, from 1
  double rate = 0;          // learning rate, before a parameter's own factor
  double scale = 1;         // multiplied into the gradients: clipping, loss scaling
};

struct StepPlan {
  std::int64_t step = 0;     // of the job, from 0; those that were dropped count too
  bool is_repeated = false;  // a death cut the last attempt short
  // Of a repeated step: the last attempt had so many slots, and this one's are the same, or whole
  // pieces of them; those whose gradients are there stay (has_micro_batch()). 0: slots are dealt
  // anew. kOthersKeep: not for this rank, whose last attempt had others.
  int kept_micro_batches = 0;
  static constexpr int kOthersKeep = -1;
  int micro_batch_count = 1;             // of the global batch
  std::vector<int> micro_batches = {0};  // this rank's, ascending
  std::vector<int> owners = {0};         // by slot: the rank that runs it
  bool is_norm_wanted = false;
  bool is_checked = false;  // whether reduce() says if gradients are finite
  int left_out_max = 0;     // ranks that the step may go on without, the slowest
  double clip_value = 0;    // each element is cut off there in update(); 0: none
  // Where nothing can stop the update any more, it may be made parameter by parameter while
  // backward still runs.
  std::optional<Update> early = std::nullopt;
};

// Sums that a caller reports beside the loss; what they are is its own affair.
using ReportedSums = std::array<double, 4>;

// What a rank brings to the end of its slots besides gradients.
struct Share {
  double loss = 0;
  ReportedSums reported{};
  bool is_stop_wanted = false;    // somebody asked this rank to end
  bool is_change_wanted = false;  // ranks wait to join, or are to leave
  double terms = 0;               // of its loss, where ranks may be left out
};

// Thrown out of a slot's passes where the step goes on without this rank: call leave_out().
struct Late : std::exception {
  const char* what() const noexcept override { return "this step goes on without this rank"; }
};

// Bytes of what this rank gave to others in a step, before a codec and after, counted once however
// many others it went to; 0: nobody counted.
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
  bool is_stop_wanted = false;    // of any rank: all of them end after the same step
  bool is_change_wanted = false;  // likewise
  double norm = 0;                // of the whole gradient, where the plan wanted it
  bool is_finite = true;
  Traffic traffic{};
  std::vector<bool> is_left_out{};  // by rank; empty: nobody is
  double share = 1;                 // of the loss's terms: that of those who are not
};

// The ranks that hold one of several replicas together.
struct Holders {
  comm::Group ranks;
  bool is_first = false;  // theirs is what is saved as the model
};

class GradientSync {
 public:
  virtual ~GradientSync() = default;

  virtual void begin_step(const StepPlan& plan) = 0;
  // Whether this slot's gradients are there already.
  virtual bool has_micro_batch(int /*micro_batch*/) const { return false; }
  virtual void begin_micro_batch(std::size_t index) = 0;
  virtual void end_micro_batch() = 0;
  virtual Gradients reduce(const Share& mine) = 0;
  // None of this rank's slots counts in this step.
  virtual void leave_out() {}
  // The sum of a number over the ranks that share a batch. A collective.
  virtual double total(double mine) { return mine; }
  virtual void update(const Update& how) = 0;
  // Throws the step's gradients away.
  virtual void drop() = 0;

  // The end of the job: replicas that differ become one.
  virtual void join() {}
  // Waits until this rank's parameters and buffers are whole and current, for evaluation.
  virtual void settle() {}

  // Where gradients are wanted, for layers that can write them there; null: anywhere.
  virtual model::GradientBuffers* homes() { return nullptr; }
  // Weights in the type that passes read; null: there are none but the weights.
  virtual const model::LowPrecisionWeights* copies() const { return nullptr; }
  // Seconds that passes have waited for other ranks, so far.
  virtual double waited() const { return 0; }
  // Ends forward passes of a step that cannot end; null: nothing does.
  virtual const model::Interruption* interruption() const { return nullptr; }

  // Compares the ranks' copies of the weights. Throws Mismatch where they have drifted apart. A
  // collective.
  virtual void check() {}

  // The next step is this one: before a saved state is read, for who agrees by steps.
  virtual void seek(std::int64_t /*step*/) {}
  // Values and optimizer state that this rank updates: to be saved, or overwritten by what was;
  // call restored() afterwards. A collective.
  virtual std::vector<checkpoint::Piece> pieces() = 0;
  // Makes what every rank read known to all.
  virtual void restored() {}
  // What this rank alone has besides, by names, or in pieces, that no other rank has: saved too,
  // and read again by restore_own(), which is called after restored(). A checkpoint may lack all of
  // it, or hold it of another number of ranks. Collectives.
  virtual std::vector<checkpoint::Piece> own_pieces() { return {}; }
  virtual void restore_own(const checkpoint::Checkpoint& /*from*/) {}
  // Whether ranks that cut them differently hold all of these too, and save them.
  virtual bool are_pieces_spare() const { return false; }
  // Of replicas that differ between two agreements, those who hold this one; nothing where all
  // ranks have the same weights. The first one is saved as the model.
  virtual std::optional<Holders> holders() const { return std::nullopt; }
  // Whether there are such, now or in a later step.
  virtual bool has_replicas() const { return holders().has_value(); }
  // The name of a piece of optimizer state: "optim/exp_avg/h.0.attn.c_attn.weight".
  static std::string state_name(const std::string& state, const std::string& parameter) {
    return "optim/" + state + "/" + parameter;
  }
  // The first parameter whose gradient or value is not finite, by name; "" where all are.
  virtual std::string first_not_finite() const = 0;
};

}  // namespace trireme::parallel
