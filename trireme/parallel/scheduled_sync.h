// ScheduledSync switches between synchronization strategies at given steps. It carries weights and
// optimizer state over, in whatever shards each strategy has.
//
// Before a change, replicas that differ become one: the end of a round combines their weights, and
// their optimizer state is averaged. State of a single strategy ends with it: outer momentum,
// error-feedback residuals, and gradients that Delayed has not applied yet.
//
// A checkpoint is read by the strategy that wrote it (seek()), so that a resumed job changes where
// the uninterrupted job does.
//
// In an elastic job (is_elastic), a change completes on all live ranks or on none: no rank gives up
// the old strategy before all ranks have the whole state in memory of their own. A rank that a
// failure interrupted then makes the change alone, in survive(), and new ranks begin with the
// current part. Strategies that follow others take the state without communication
// (Capabilities::can_follow).
//
// Errors, thread safety, lifetime: as GradientSync. A change is a collective, in begin_step() and
// seek(); survive() is one, too.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/comm/group.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/whole_state.h"

namespace trireme::parallel {

inline constexpr FaultPoint kStateHeld{"schedule.held"};   // this rank has the whole state
inline constexpr FaultPoint kChanged{"schedule.changed"};  // this rank has the next strategy

class ScheduledSync final : public GradientSync, public ElasticSync, private SavedState {
 public:
  struct Part {
    std::int64_t begin = 0;  // its first step; ascending, from 0
    std::function<std::shared_ptr<GradientSync>()> make;
    bool has_replicas = false;
  };
  struct Options {
    std::vector<Parameter> parameters;
    std::vector<std::string> states;  // of the optimizer, by name
    comm::Group group;
    std::vector<Part> parts{};
    bool is_elastic = false;  // all parts are ElasticSync
    Faults* faults = nullptr;
  };
  explicit ScheduledSync(Options options);

  void begin_step(const StepPlan& plan) override;
  bool begin_micro_batch(std::size_t index) override { return now_->begin_micro_batch(index); }
  void end_micro_batch() override { now_->end_micro_batch(); }
  void finish_reduction() override { now_->finish_reduction(); }
  void update(const Update& how) override { now_->update(how); }
  void drop() override { now_->drop(); }
  PassServices passes() override { return now_->passes(); }
  Roles roles() override { return {now_->commit(), now_->model(), *this}; }

  bool keeps_micro_batches() const override { return elastic().keeps_micro_batches(); }
  void survive(const comm::Group& group, std::vector<int> places) override;
  void finish_failed_ranks() override { elastic().finish_failed_ranks(); }
  void regroup(bool is_new) override;

 private:
  void seek(std::int64_t step) override;
  std::vector<checkpoint::Piece> pieces() override { return now_->saved().pieces(); }
  void restored() override { now_->saved().restored(); }
  std::vector<checkpoint::Piece> own_pieces() override { return now_->saved().own_pieces(); }
  void restore_own(const checkpoint::Checkpoint& from) override { now_->saved().restore_own(from); }
  bool are_pieces_spare() const override { return now_->saved().are_pieces_spare(); }
  std::optional<Holders> holders() const override { return now_->saved().holders(); }
  bool has_replicas() const override;

  std::size_t part_at(std::int64_t step) const;
  void change_to(std::size_t part);
  void become(std::size_t part);
  ElasticSync& elastic() const;

  Options options_;
  std::size_t part_ = 0;     // now
  std::vector<int> places_;  // by rank: its place in the host's arena
  WholeState handed_;        // elastic: from the old strategy, until all ranks have changed
  std::shared_ptr<GradientSync> now_;
};

}  // namespace trireme::parallel
