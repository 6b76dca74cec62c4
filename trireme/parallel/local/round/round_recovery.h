// RoundRecovery continues rounds with a new group after ranks were lost, and before ranks join or
// leave: it completes the round that a failure interrupted, and sends the state to new ranks.
//
// All communication between replicas uses the group of all ranks. In a subgroup that shares memory,
// ranks would wait for a rank that has already stopped because of another death.
//
// Errors, thread safety: as ElasticSync.
// Lifetime:              the exchange and the end must outlive this object.

#pragma once

#include "trireme/parallel/data/model_buffers.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/local/round/round_end.h"
#include "trireme/parallel/local/round/round_exchange.h"
#include "trireme/parallel/local/state_reports.h"

namespace trireme::parallel::local {

class RoundRecovery final : public ElasticSync {
 public:
  RoundRecovery(RoundExchange& exchange, RoundEnd& end)
      : exchange_(exchange),
        end_(end),
        parts_(exchange.parts()),
        buffers_(parts_.replicas.buffers(), {}) {}

  // Before a step changes the model.
  void begin_step() { buffers_.keep(); }
  // This rank has the state that all ranks share, because it read a checkpoint.
  void restored() noexcept { has_state_ = true; }

  bool keeps_micro_batches() const override { return false; }
  void survive(const comm::Group& group, std::vector<int> places) override;
  void finish_failed_ranks() override;
  void regroup(bool is_new) override;

 private:
  const Replica& replica() const noexcept { return parts_.replicas.replica(); }
  StateReports reports(bool is_new) const;
  bool is_due_action_done(const StateReports& all) const;
  void share(const StateReports& all);
  std::vector<int> first_ranks(const StateReports& all) const;
  void give_replica(int source, bool is_given);
  void give_outer(const comm::Group& group, int source, bool is_given);

  RoundExchange& exchange_;
  RoundEnd& end_;
  RoundExchange::Parts parts_;
  data::ModelBuffers buffers_;
  bool has_state_ = false;  // that all ranks share
};

}  // namespace trireme::parallel::local
