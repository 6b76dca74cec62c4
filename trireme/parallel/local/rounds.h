// Rounds is the agreement of replicas that are each trained for some steps, a round, as if there
// were no others, and then brought together. A replica is one rank's, or the ranks of a host train
// it together and agree among themselves in every step.
//
//   Average   weights become the mean of all (local SGD); with a codec, what replicas have moved
//             since the last round is what is encoded
//   Outer     the mean of what replicas have moved is the gradient of an outer step with Nesterov's
//             momentum (DiLoCo)
//   Pair      two replicas each, other ones in every round, take the mean of theirs (gossip)
//
// The first round begins with the step `pace.begin`. Inside a round replicas agree on nothing but
// when to stop, and whether a step was sound. Optimizer state is each replica's own; join() makes
// one of all. Of a replica that several ranks hold, each sends to other replicas what it updates of
// it.
//
// Saved: the first replica as the model, and beside it the others', the outer weights and momentum.
// Threads, failure, lifetime: as Agreement.

#pragma once

#include <memory>
#include <vector>

#include "trireme/parallel/apart.h"
#include "trireme/parallel/local/fragment.h"
#include "trireme/parallel/local/round_end.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

class Rounds final : public Agreement {
 public:
  struct Options {
    Replica replica;
    std::vector<at::Tensor> buffers{};
    FlatModel::Options flat;  // without parameters, parts and group
    Gathering gathering = Gathering::Average;
    Pace pace{};
  };
  explicit Rounds(Options options);

  void begin_step(const StepPlan& plan) override;
  void begin_slot(std::size_t index) override;
  void end_slot() override;
  Gradients reduce(const Share& mine) override;
  double total(double mine) override { return apart_.total(mine); }
  void update(const Update& how) override;
  void drop() override;
  void join() override;
  void settle() override { apart_.settle(); }
  model::GradientHomes* homes() override { return apart_.homes(); }
  const model::WeightCopies* copies() const override { return apart_.copies(); }
  double waited() const override { return apart_.waited(); }
  void check() override { apart_.check(); }
  std::vector<checkpoint::Piece> pieces() override { return apart_.pieces(); }
  void restored() override { apart_.restored(); }
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  std::optional<Holders> holders() const override { return apart_.holders(); }
  std::string first_not_finite() const override { return apart_.first_not_finite(); }

 private:
  double distance();
  void end_step();
  void take_turns();
  void bring_together();
  void poll();
  bool is_in_pairs() const noexcept { return options_.gathering == Gathering::Pair; }
  Agreement& own() const noexcept { return *apart_.replica().own; }
  int number() const noexcept { return apart_.replica().number(); }
  // One rank says what holds for all of them.
  bool is_teller() const noexcept { return number() == 0 && options_.replica.inside.rank() == 0; }

  Options options_;
  Apart apart_;
  std::vector<Fragment> fragments_;
  RoundEnd end_;
  StepPlan plan_;
  bool is_ending_ = false;  // a rank wants the round to end with this step
  bool is_alike_ = true;    // no replica has moved since they were brought together
  at::Tensor saved_alike_;  // the same, as it is saved
  Traffic traffic_;         // not yet told
};

}  // namespace trireme::parallel::local
