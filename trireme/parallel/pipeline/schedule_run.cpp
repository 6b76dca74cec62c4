#include "trireme/parallel/pipeline/schedule_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

// Since when something is there; nothing if that is not known yet.
using Since = std::optional<double>;

class ScheduleRunner {
 public:
  ScheduleRunner(const PipelineSchedule& schedule, const StagePlacement& placement,
                 const PipelineTimes& times, int unreceived_max)
      : schedule_(schedule),
        placement_(placement),
        times_(times),
        unreceived_max_(static_cast<std::size_t>(unreceived_max)) {
    for (const RankSchedule& rank : schedule) {
      for (const Action& action : rank) {
        micro_batches_ = std::max(micro_batches_, action.micro_batch + 1);
      }
    }
    const auto ranks = schedule.size();
    run_.ranks.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      run_.ranks[rank].ends.reserve(schedule[rank].size());
    }
    channels_.resize(2 * ranks * ranks);
    values_.resize(2 * static_cast<std::size_t>(micro_batches_ * placement.stages()));
    if (times_.stages.empty()) {
      times_.stages.resize(static_cast<std::size_t>(placement.stages()));
    }
  }

  ScheduleRun run() {
    for (std::size_t rank = 0; rank < schedule_.size(); ++rank) woken_.push_back(rank);
    while (!woken_.empty()) {
      const std::size_t rank = woken_.back();
      woken_.pop_back();
      while (run_next(rank)) {
      }
    }
    return std::move(run_);
  }

 private:
  // The activations that a stage produces from a micro-batch, or the gradients of its input.
  struct ProducedValue {
    Since made;    // on its own rank
    Since sent;    // the send was reached
    Since posted;  // the receive was posted
  };
  struct ChannelState {
    std::size_t sends = 0;
    std::vector<double> posts;  // when each receive was posted
  };

  ProducedValue& value_of(const Action& action, int stage, bool is_of_activations) {
    const int pair = action.micro_batch * placement_.stages() + stage;
    return values_[2 * static_cast<std::size_t>(pair) + (is_of_activations ? 1 : 0)];
  }
  ProducedValue& value_of(const Action& send) {
    return value_of(send, send.stage, send.is_of_activations());
  }
  ChannelState& channel_of(const Action& send) {
    const int from = placement_.rank_of(send.stage);
    const int to = placement_.rank_of(counterpart_of(send).stage);
    const int pair = from * placement_.ranks() + to;
    return channels_[2 * static_cast<std::size_t>(pair) + (send.is_of_activations() ? 1 : 0)];
  }

  // False if the rank is at its end or must wait.
  bool run_next(std::size_t rank) {
    ScheduleRun::Rank& state = run_.ranks[rank];
    if (state.ends.size() == schedule_[rank].size()) return false;
    const Action& action = schedule_[rank][state.ends.size()];
    const Since end = action.is_send()      ? end_of_send(action, state.end())
                      : action.is_receive() ? end_of_post(action, state.end())
                                            : end_of_pass(action, state);
    if (end) state.ends.push_back(*end);
    return end.has_value();
  }

  Since end_of_send(const Action& send, double now) {
    ProducedValue& value = value_of(send);
    if (!value.made) return std::nullopt;
    ChannelState& channel = channel_of(send);
    if (!value.sent) {
      value.sent = now;
      ++channel.sends;
      woken_.push_back(static_cast<std::size_t>(placement_.rank_of(counterpart_of(send).stage)));
    }
    if (channel.sends <= unreceived_max_) return now;
    const std::size_t posts_needed = channel.sends - unreceived_max_;
    if (channel.posts.size() < posts_needed) return std::nullopt;
    return std::max(now, channel.posts[posts_needed - 1]);
  }

  Since end_of_post(const Action& receive, double now) {
    const Action send = counterpart_of(receive);
    value_of(send).posted = now;
    channel_of(send).posts.push_back(now);
    woken_.push_back(static_cast<std::size_t>(placement_.rank_of(send.stage)));
    return now;
  }

  Since end_of_pass(const Action& pass, ScheduleRun::Rank& state) {
    const Since ready = ready_since(pass);
    if (!ready) return std::nullopt;
    const double time = times_.stages[static_cast<std::size_t>(pass.stage)].of(pass.kind);
    const double end = std::max(state.end(), *ready) + time;
    state.busy += time;
    if (pass.kind == Kind::Forward) value_of(pass, pass.stage, true).made = end;
    if (pass.yields_gradients()) value_of(pass, pass.stage, false).made = end;
    return end;
  }

  Since ready_since(const Action& pass) {
    switch (pass.kind) {
      case Kind::Forward:
        return pass.stage == 0 ? 0.0 : arrival(pass, pass.stage - 1, true);
      case Kind::BackwardWeight:
        return value_of(pass, pass.stage, false).made;
      default:
        // No gradients arrive before the own forward pass.
        if (pass.stage + 1 < placement_.stages()) return arrival(pass, pass.stage + 1, false);
        return value_of(pass, pass.stage, true).made;
    }
  }

  // When what stage `from` produces is on the rank of this pass.
  Since arrival(const Action& pass, int from, bool is_of_activations) {
    const ProducedValue& value = value_of(pass, from, is_of_activations);
    if (!placement_.is_cut_between(pass.stage, from)) return value.made;
    if (!value.sent || !value.posted) return std::nullopt;
    return std::max(*value.sent, *value.posted) + times_.transfer;
  }

  const PipelineSchedule& schedule_;
  const StagePlacement& placement_;
  PipelineTimes times_;
  std::size_t unreceived_max_;
  int micro_batches_ = 0;
  std::vector<ProducedValue> values_;
  std::vector<ChannelState> channels_;
  std::vector<std::size_t> woken_;
  ScheduleRun run_;
};

}  // namespace

double StageTimes::of(Action::Kind kind) const noexcept {
  switch (kind) {
    case Kind::Forward:
      return forward;
    case Kind::Backward:
      return backward;
    case Kind::BackwardInput:
      return backward_input;
    case Kind::BackwardWeight:
      return backward_weight;
    default:
      return 0;
  }
}

std::string ScheduleRun::deadlock(const PipelineSchedule& schedule) const {
  std::string text;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::size_t next = ranks[rank].ends.size();
    if (next == schedule[rank].size()) continue;
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) +
            " waits forever in action " + std::to_string(next) + " (" +
            schedule[rank][next].to_text() + ")";
  }
  return text;
}

ScheduleRun run_schedule(const PipelineSchedule& schedule, const StagePlacement& placement,
                         const PipelineTimes& times, int unreceived_max) {
  TRIREME_CHECK_EQ(static_cast<int>(schedule.size()), placement.ranks(), "ranks of the schedule");
  TRIREME_CHECK(times.stages.empty() || static_cast<int>(times.stages.size()) == placement.stages(),
                times.stages.size(), " times for ", placement.stages(), " stages");
  TRIREME_CHECK(unreceived_max >= 0, "unreceived_max is ", unreceived_max);
  return ScheduleRunner(schedule, placement, times, unreceived_max).run();
}

}  // namespace trireme::parallel::pipeline
