#include "trireme/parallel/pipeline/transfers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "trireme/base/check.h"
#include "trireme/parallel/pipeline/schedule_run.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

// One value that is sent. A position is the index of a pass among those of its rank.
struct SentValue {
  Action send;
  Action receive;
  std::size_t from = 0;      // rank
  std::size_t to = 0;        // rank
  std::size_t producer = 0;  // position on the sending rank
  std::size_t post = 0;      // position before which the receive is posted
};

// All values from one rank to another, of activations or of gradients, in the order of the sends.
using ChannelKey = std::tuple<int, int, bool>;
using Channels = std::map<ChannelKey, std::vector<SentValue>>;

// One pass before the one that uses the value, by the index of the receive.
class LatestPosts {
 public:
  LatestPosts(const PipelineSchedule& passes, const StagePlacement& placement)
      : stages_(placement.stages()) {
    for (const RankSchedule& rank : passes) {
      for (std::size_t i = 0; i < rank.size(); ++i) {
        TRIREME_CHECK(rank[i].is_compute(), "the schedule already has transfers");
        const auto receive = receive_before(rank[i], placement);
        if (!receive) continue;
        const std::size_t index = index_of(*receive);
        if (index >= posts_.size()) posts_.resize(index + 1);
        posts_[index] = std::max<std::size_t>(i, 1);
      }
    }
  }

  std::size_t of(const Action& receive) const {
    const std::size_t index = index_of(receive);
    TRIREME_CHECK(index < posts_.size() && posts_[index] > 0, "no pass needs the ",
                  receive.to_text());
    return posts_[index] - 1;
  }

 private:
  std::size_t index_of(const Action& receive) const noexcept {
    const int pair = receive.micro_batch * stages_ + receive.stage;
    return 2 * static_cast<std::size_t>(pair) + (receive.is_of_activations() ? 1 : 0);
  }

  int stages_;
  std::vector<std::size_t> posts_;  // position plus one; 0 for none
};

Channels channels_of(const PipelineSchedule& passes, const StagePlacement& placement) {
  const LatestPosts latest(passes, placement);
  Channels channels;
  for (std::size_t rank = 0; rank < passes.size(); ++rank) {
    for (std::size_t i = 0; i < passes[rank].size(); ++i) {
      const auto send = send_after(passes[rank][i], placement);
      if (!send) continue;
      const Action receive = counterpart_of(*send);
      const int to = placement.rank_of(receive.stage);
      channels[{static_cast<int>(rank), to, send->is_of_activations()}].push_back(
          {.send = *send,
           .receive = receive,
           .from = rank,
           .to = static_cast<std::size_t>(to),
           .producer = i,
           .post = latest.of(receive)});
    }
  }
  return channels;
}

// A receive is not posted after one for a value that is sent later.
void keep_order(Channels& channels) {
  for (auto& [channel, values] : channels) {
    for (std::size_t i = values.size(); i-- > 1;) {
      values[i - 1].post = std::min(values[i - 1].post, values[i].post);
    }
  }
}

PipelineSchedule merge(const PipelineSchedule& passes, const StagePlacement& placement,
                       const Channels& channels) {
  std::vector<std::vector<RankSchedule>> posts;
  for (const RankSchedule& rank : passes) posts.emplace_back(rank.size());
  for (const auto& [channel, values] : channels) {
    for (const SentValue& value : values) posts[value.to][value.post].push_back(value.receive);
  }
  PipelineSchedule schedule(passes.size());
  for (std::size_t rank = 0; rank < passes.size(); ++rank) {
    for (std::size_t i = 0; i < passes[rank].size(); ++i) {
      const RankSchedule& receives = posts[rank][i];
      schedule[rank].insert(schedule[rank].end(), receives.begin(), receives.end());
      schedule[rank].push_back(passes[rank][i]);
      const auto send = send_after(passes[rank][i], placement);
      if (send) schedule[rank].push_back(*send);
    }
  }
  return schedule;
}

// By rank: when each pass ends if no send waits.
std::vector<std::vector<double>> ends_of_passes(const PipelineSchedule& schedule,
                                                const StagePlacement& placement) {
  const ScheduleRun run = run_schedule(schedule, placement, {}, kUnlimited);
  const std::string deadlock = run.deadlock(schedule);
  TRIREME_CHECK(deadlock.empty(), deadlock);
  std::vector<std::vector<double>> ends(schedule.size());
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    for (std::size_t i = 0; i < schedule[rank].size(); ++i) {
      if (schedule[rank][i].is_compute()) ends[rank].push_back(run.ranks[rank].ends[i]);
    }
  }
  return ends;
}

// Posts receives strictly before their sends: at the same moment, two ranks that both send first
// would wait for each other. The order stays, because the sends are in the order of their times.
void post_before_sends(Channels& channels, const std::vector<std::vector<double>>& ends) {
  for (auto& [channel, values] : channels) {
    for (SentValue& value : values) {
      const double sent = ends[value.from][value.producer];
      const auto& own = ends[value.to];
      const auto next = std::lower_bound(own.begin(), own.end(), sent);
      value.post = std::min(value.post, static_cast<std::size_t>(next - own.begin()));
    }
  }
}

}  // namespace

std::optional<Action> send_after(const Action& pass, const StagePlacement& placement) {
  if (pass.kind != Kind::Forward && !pass.yields_gradients()) return std::nullopt;
  const bool is_forward = pass.kind == Kind::Forward;
  const int to = is_forward ? pass.stage + 1 : pass.stage - 1;
  if (!placement.is_cut_between(pass.stage, to)) return std::nullopt;
  return Action{is_forward ? Kind::SendActivations : Kind::SendGradients, pass.micro_batch,
                pass.stage};
}

std::optional<Action> receive_before(const Action& pass, const StagePlacement& placement) {
  if (pass.kind != Kind::Forward && !pass.yields_gradients()) return std::nullopt;
  const bool is_forward = pass.kind == Kind::Forward;
  const int from = is_forward ? pass.stage - 1 : pass.stage + 1;
  if (!placement.is_cut_between(pass.stage, from)) return std::nullopt;
  return Action{is_forward ? Kind::ReceiveActivations : Kind::ReceiveGradients, pass.micro_batch,
                pass.stage};
}

PipelineSchedule with_transfers(const PipelineSchedule& passes, const StagePlacement& placement) {
  Channels channels = channels_of(passes, placement);
  keep_order(channels);
  const auto ends = ends_of_passes(merge(passes, placement, channels), placement);
  post_before_sends(channels, ends);
  return merge(passes, placement, channels);
}

}  // namespace trireme::parallel::pipeline
