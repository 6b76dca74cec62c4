// Rounds is the agreement of ranks that each train a replica by themselves for some steps, a round,
// and then bring their replicas together.
//
//   Average   weights become the mean of all (local SGD); with a codec, what ranks have moved since
//             the last round is what is encoded
//   Outer     the mean of what ranks have moved is the gradient of an outer step with Nesterov's
//             momentum (DiLoCo)
//   Pair      two ranks each, other ones in every round, take the mean of theirs (gossip)
//
// Before the step `pace.begin`, gradients are added up in every step instead (post-local SGD).
// Inside a round ranks agree on nothing but when to stop, and whether a step was sound. Optimizer
// state is each rank's own; join() makes one of all.
//
// Saved: rank 0's replica as the model, and beside it the others', the outer weights and momentum.
// Threads, failure, lifetime: as Agreement.

#pragma once

#include <memory>
#include <vector>

#include "trireme/parallel/apart.h"
#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/local/round_end.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

enum class Gathering { Average, Outer, Pair };

class Rounds final : public Agreement {
 public:
  struct Options {
    std::shared_ptr<Solo> own;
    std::vector<at::Tensor> buffers{};
    FlatModel::Options flat;
    Gathering gathering = Gathering::Average;
    Pace pace{};
  };
  explicit Rounds(Options options);

  void begin_step(const StepPlan& plan) override;
  void begin_slot(std::size_t index) override { own_->begin_slot(index); }
  void end_slot() override { own_->end_slot(); }
  Gradients reduce(const Share& mine) override;
  void update(const Update& how) override;
  void drop() override;
  void join() override;
  std::vector<checkpoint::Piece> pieces() override { return own_->pieces(); }
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  bool has_replicas() const override { return true; }
  std::string first_not_finite() const override { return own_->first_not_finite(); }

 private:
  // Whether this step's gradients are everybody's.
  bool is_common() const noexcept { return plan_.step < options_.pace.begin; }
  Gradients reduce_common(const Share& mine);
  double distance();
  void end_step();
  void bring_together();
  void step_outside();
  void meet_partner();
  void average_buffers();

  Options options_;
  std::shared_ptr<Solo> own_;
  comm::Group group_;
  Apart apart_;
  FlatModel flat_;
  RoundEnd end_;
  at::Tensor work_;      // what is sent
  at::Tensor anchor_;    // the weights of the last round's end, where they are needed
  at::Tensor momentum_;  // of the outer step
  at::Tensor partner_;   // what came from the other of a pair
  StepPlan plan_;
  bool is_ending_ = false;  // a rank wants the round to end with this step
  bool is_alike_ = true;    // no replica has moved since they were brought together
  Traffic traffic_;         // not yet told
};

}  // namespace trireme::parallel::local
