#include "trireme/parallel/pipeline/schedule_fault.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include "trireme/parallel/pipeline/schedule_run.h"
#include "trireme/parallel/pipeline/transfers.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

class ScheduleCheck {
 public:
  ScheduleCheck(const PipelineSchedule& schedule, const StagePlacement& placement,
                const ScheduleLimits& limits)
      : schedule_(schedule), placement_(placement), limits_(limits) {}

  std::string fault() {
    using Part = std::string (ScheduleCheck::*)();
    for (const Part part : {&ScheduleCheck::fault_of_places, &ScheduleCheck::fault_of_passes,
                            &ScheduleCheck::fault_of_transfers, &ScheduleCheck::fault_of_order,
                            &ScheduleCheck::fault_of_memory, &ScheduleCheck::fault_of_waits}) {
      std::string text = (this->*part)();
      if (!text.empty()) return text;
    }
    return "";
  }

 private:
  static constexpr std::size_t kKinds = 8;
  // Where an action is among those of the rank of its stage.
  using FoundIndex = std::optional<std::size_t>;

  FoundIndex& index_of(const Action& action) {
    const int pair = action.micro_batch * placement_.stages() + action.stage;
    return indices_[static_cast<std::size_t>(pair) * kKinds +
                    static_cast<std::size_t>(action.kind)];
  }

  std::string at(const Action& action) {
    return text_of(placement_.rank_of(action.stage), *index_of(action), action);
  }
  static std::string text_of(int rank, std::size_t index, const Action& action) {
    return "rank " + std::to_string(rank) + ": action " + std::to_string(index) + " (" +
           action.to_text() + "): ";
  }
  // The sentence if an action does not exist, or does not come after the other one.
  std::string fault_of_pair(const Action& first, const Action& second) {
    for (const Action& action : {first, second}) {
      if (index_of(action)) continue;
      return "rank " + std::to_string(placement_.rank_of(action.stage)) + ": the " +
             action.to_text() + " is missing";
    }
    if (*index_of(first) < *index_of(second)) return "";
    return at(second) + "comes before the " + first.to_text();
  }

  std::string fault_of_places() {
    if (limits_.micro_batches < 1) return "a step without micro-batches has no schedule";
    if (static_cast<int>(schedule_.size()) != placement_.ranks()) {
      return "the schedule has " + std::to_string(schedule_.size()) +
             " ranks, and the stages are " + "on " + std::to_string(placement_.ranks());
    }
    indices_.resize(kKinds * static_cast<std::size_t>(limits_.micro_batches) *
                    static_cast<std::size_t>(placement_.stages()));
    for (int rank = 0; rank < placement_.ranks(); ++rank) {
      const RankSchedule& actions = schedule_[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const std::string why = record(rank, actions[i], i);
        if (!why.empty()) return text_of(rank, i, actions[i]) + why;
      }
    }
    return "";
  }

  std::string record(int rank, const Action& action, std::size_t index) {
    if (!placement_.has_stage(action.stage)) {
      return "there are " + std::to_string(placement_.stages()) + " stages";
    }
    const int owner = placement_.rank_of(action.stage);
    if (owner != rank) {
      return "stage " + std::to_string(action.stage) + " is on rank " + std::to_string(owner);
    }
    if (action.micro_batch < 0 || action.micro_batch >= limits_.micro_batches) {
      return "there are " + std::to_string(limits_.micro_batches) + " micro-batches";
    }
    FoundIndex& known = index_of(action);
    if (known) return "action " + std::to_string(*known) + " is the same";
    known = index;
    return "";
  }

  std::string fault_of_passes() {
    for (int stage = 0; stage < placement_.stages(); ++stage) {
      for (int i = 0; i < limits_.micro_batches; ++i) {
        std::string text = fault_of_passes(stage, i);
        if (!text.empty()) return text;
      }
    }
    return "";
  }

  std::string fault_of_passes(int stage, int micro_batch) {
    const Action forward{Kind::Forward, micro_batch, stage};
    const Action whole{Kind::Backward, micro_batch, stage};
    const Action input{Kind::BackwardInput, micro_batch, stage};
    const Action weight{Kind::BackwardWeight, micro_batch, stage};
    if (!index_of(input) && !index_of(weight)) return fault_of_pair(forward, whole);
    if (index_of(whole)) return at(whole) + "a part of this backward pass is run as well";
    std::string text = fault_of_pair(forward, input);
    return text.empty() ? fault_of_pair(input, weight) : text;
  }

  std::string fault_of_transfers() {
    for (const RankSchedule& actions : schedule_) {
      for (const Action& action : actions) {
        std::string text = action.is_compute() ? fault_of_uses(action) : fault_of_purpose(action);
        if (!text.empty()) return text;
      }
    }
    return "";
  }

  // A pass has a receive before it and a send after it if its values come from, or go to, other
  // ranks.
  std::string fault_of_uses(const Action& pass) {
    const auto receive = receive_before(pass, placement_);
    std::string text = receive ? fault_of_pair(*receive, pass) : "";
    const auto send = send_after(pass, placement_);
    return text.empty() && send ? fault_of_pair(pass, *send) : text;
  }

  std::string fault_of_purpose(const Action& transfer) {
    const int other = counterpart_of(transfer).stage;
    if (placement_.is_cut_between(transfer.stage, other)) return "";
    return at(transfer) + (placement_.has_stage(other)
                               ? "stage " + std::to_string(other) + " is on the same rank"
                               : "there is no stage " + std::to_string(other));
  }

  // Each send has its receive, and is behind the same number of others.
  std::string fault_of_order() {
    const auto ranks = static_cast<std::size_t>(placement_.ranks());
    std::vector<RankSchedule> receives(2 * ranks * ranks);
    std::vector<std::size_t> received(receives.size());
    for (const RankSchedule& actions : schedule_) {
      for (const Action& action : actions) {
        if (action.is_receive())
          receives[channel_of(action, counterpart_of(action))].push_back(action);
      }
    }
    for (const RankSchedule& actions : schedule_) {
      for (const Action& send : actions) {
        if (!send.is_send()) continue;
        const Action receive = counterpart_of(send);
        const std::size_t channel = channel_of(receive, send);
        const Action& next = receives[channel][received[channel]++];
        if (next == receive) continue;
        return at(send) + "rank " + std::to_string(placement_.rank_of(receive.stage)) +
               " first receives, in its action " + std::to_string(*index_of(next)) + ", the " +
               counterpart_of(next).to_text();
      }
    }
    return "";
  }

  std::size_t channel_of(const Action& receive, const Action& send) const {
    const int pair =
        placement_.rank_of(send.stage) * placement_.ranks() + placement_.rank_of(receive.stage);
    return 2 * static_cast<std::size_t>(pair) + (send.is_of_activations() ? 1 : 0);
  }

  std::string fault_of_memory() {
    const std::vector<int>& most = limits_.activations_max;
    if (most.empty()) return "";
    if (most.size() != schedule_.size()) {
      return "the memory of " + std::to_string(most.size()) + " ranks is limited, of " +
             std::to_string(schedule_.size());
    }
    for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
      int alive = 0;
      for (const Action& action : schedule_[rank]) {
        if (action.kind == Kind::Backward || action.kind == Kind::BackwardWeight) --alive;
        if (action.kind != Kind::Forward || ++alive <= most[rank]) continue;
        return at(action) + std::to_string(alive) + " activations are alive; the limit is " +
               std::to_string(most[rank]);
      }
    }
    return "";
  }

  std::string fault_of_waits() {
    const ScheduleRun run = run_schedule(schedule_, placement_, {}, limits_.unreceived_max);
    const std::string text = run.deadlock(schedule_);
    return text.empty() ? text : "the ranks wait for each other: " + text;
  }

  const PipelineSchedule& schedule_;
  const StagePlacement& placement_;
  const ScheduleLimits& limits_;
  std::vector<FoundIndex> indices_;
};

}  // namespace

std::string fault_in(const PipelineSchedule& schedule, const StagePlacement& placement,
                     const ScheduleLimits& limits) {
  return ScheduleCheck(schedule, placement, limits).fault();
}

}  // namespace trireme::parallel::pipeline
