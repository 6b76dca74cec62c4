// Apart is the agreement of replicas that never speak: each is trained on its slots as if there
// were no others, by one rank or by several, and join() averages them once, at the end. They agree
// on nothing but when to stop, and whether a step was sound: all drop one that was not on some
// rank. With slack they are told of both so many steps later (votes.h), so that nobody waits for a
// rank that is no further behind; a step that was not sound is then dropped at once by its own
// replica, and the one in which all are told of it by all.

#pragma once

#include <memory>
#include <vector>

#include "trireme/parallel/replica.h"
#include "trireme/parallel/votes.h"

namespace trireme::parallel {

class Apart final : public GradientSync, public CommonModel, public SavedState {
 public:
  // Everybody begins with the first replica's weights, unless replicas are led: regroup() comes
  // first then, and its caller gives them out.
  Apart(Replica replica, std::vector<at::Tensor> buffers, std::int64_t slack = 0);

  void begin_step(const StepPlan& plan) override;
  void begin_micro_batch(std::size_t index) override { own().begin_micro_batch(index); }
  void end_micro_batch() override { own().end_micro_batch(); }
  Gradients reduce(const Share& mine) override;
  // The same; `wish` is this rank's, and then whether any rank has it, or had it so much before.
  Gradients reduce(const Share& mine, bool& wish);
  // What ranks told each other in it.
  const std::vector<double>& figures() const noexcept { return figures_; }
  // Of the step whose reduce() was cut short here, with the figures that it gave elsewhere.
  Gradients recall(std::vector<double> figures, bool& wish);
  // Of all, if the others have as much to a slot.
  double total(double mine) override { return own().total(mine) * weight_; }
  void update(const Update& how) override;
  void drop() override { own().drop(); }
  void join() override;
  void settle() override { own().model().settle(); }
  PassServices passes() override { return own().passes(); }
  CommonModel& model() override { return *this; }
  SavedState& saved() override { return *this; }
  void check() override { own().model().check(); }
  std::vector<checkpoint::Piece> pieces() override { return own().saved().pieces(); }
  void restored() override;
  std::optional<Holders> holders() const override { return replica_.holders(); }
  // Of this replica: until they are joined there is no model that all of them have.
  std::string first_not_finite() const override { return own().model().first_not_finite(); }

  const Replica& replica() const noexcept { return replica_; }
  // The mean of all replicas', or the first's: to be given to set_buffers(). A collective.
  std::vector<at::Tensor> mean_of_buffers() const;
  void set_buffers(const std::vector<at::Tensor>& values) const;
  const std::vector<at::Tensor>& buffers() const noexcept { return buffers_; }
  // From now on with these; see Replica.
  void regroup(const comm::Group& group, const std::vector<int>& places);

 private:
  GradientSync& own() const noexcept { return *replica_.own; }

  Replica replica_;
  std::vector<at::Tensor> buffers_;
  Votes votes_;
  double weight_ = 1;      // this replica's batch is a part of the global one
  bool is_sound_ = true;   // this rank's step
  double sound_loss_ = 0;  // of the last step that was
  Gradients found_;        // by this replica, in this step
  std::vector<double> figures_;
};

}  // namespace trireme::parallel
