// Apart is the agreement of ranks that never speak: each trains a replica of its own on its slots
// as if there were no others, and join() averages them once, at the end. They agree on nothing but
// when to stop, and whether a step was sound: all drop one that was not on some rank.

#pragma once

#include <memory>

#include "trireme/comm/group.h"
#include "trireme/parallel/solo.h"

namespace trireme::parallel {

class Apart final : public Agreement {
 public:
  Apart(std::shared_ptr<Solo> own, std::vector<at::Tensor> buffers, comm::Group group);

  void begin_step(const StepPlan& plan) override;
  void begin_slot(std::size_t index) override { own_->begin_slot(index); }
  void end_slot() override { own_->end_slot(); }
  Gradients reduce(const Share& mine) override;
  // The same; `wish` is this rank's, and then whether any rank has it.
  Gradients reduce(const Share& mine, bool& wish);
  void update(const Update& how) override;
  void drop() override { own_->drop(); }
  void join() override;
  std::vector<checkpoint::Piece> pieces() override { return own_->pieces(); }
  bool has_replicas() const override { return true; }
  // Rank 0's: until they are joined there is no model that all of them have.
  std::string first_not_finite() const override { return own_->first_not_finite(); }

 private:
  std::shared_ptr<Solo> own_;
  std::vector<at::Tensor> buffers_;
  comm::Group group_;
  double weight_ = 1;  // this replica's batch is a part of the global one
};

}  // namespace trireme::parallel
