#include "trireme/parallel/data/elastic_data_parallel.h"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"

namespace trireme::parallel::data {
namespace {

void share(const comm::Group& group, int source, const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    comm::broadcast(group, tensor.detach(), source, {.label = "state"}).wait();
  }
}

}  // namespace

void ElasticDataParallel::on_laid_out() {
  has_state_ = true;
  // The codec of hosts needs a collective of all ranks; a rank that is interrupted here has all
  // that regroup() needs, which calls it again.
  is_codec_regrouped_ = !composition_.is_per_host();
  if (reduction_.coded() != nullptr && !is_surviving_) regroup_codec();
}

void ElasticDataParallel::survive(const comm::Group& group, std::vector<int> places) {
  if (reduction_.reducer() != nullptr) reduction_.reducer()->forget();
  if (storage_) storage_->forget();
  is_codec_regrouped_ = false;
  is_surviving_ = true;
  commit_.regroup(group);
  placement_ = Placement::of_epoch(group, places, composition_.is_per_host());
  make_race();
  // The old group must not be used any more; regroup() connects the new one's shards.
  if (storage_) reduction_.connect(storage_->layout(), *gradients_, placement_);
}

void ElasticDataParallel::update(const Update& how) {
  const c10::NoGradGuard no_grad;
  if (commit_.status().phase != StepStatus::Phase::Finished) {
    updater_.set_used(commit_.result().flags);
    Ledger::Page* const page = composition_.is_shared(placement_) ? &journal_.page() : nullptr;
    updater_.update_all(*storage_, own_shard(), how, page);
    made_ = how;
    mark_finished();
  }
  update_failed_ranks(how);
  // Before regroup() not every rank of the group has values to publish.
  if (is_surviving_) return;
  try {
    storage_->publish_all(placement_);
  } catch (const Error&) {
    // The update is complete; the next wait for other ranks reports the loss.
  }
}

void ElasticDataParallel::drop() {
  made_.reset();
  DataParallel::drop();
}

// Survivors share the unfinished shards of failed ranks.
void ElasticDataParallel::update_failed_ranks(const Update& how) {
  if (!composition_.is_shared(placement_)) return;
  const std::vector<int> successor_of = successors_of(cut_.places, placement_.places);
  for (int rank = 0; rank < cut_.ranks; ++rank) {
    const int place = cut_.places[static_cast<std::size_t>(rank)];
    const int successor = successor_of[static_cast<std::size_t>(rank)];
    if (successor == place || successor != placement_.own_place()) continue;
    Ledger::Page page = journal_.page_of(place);
    // A rank that has begun the next step had finished this one.
    const bool is_finished =
        page.step() > commit_.status().step || page.phase() == Ledger::Phase::Finished;
    if (is_finished) continue;
    ShardUpdater::Shard shard = own_shard();
    shard.rank = rank;
    updater_.update_all(*storage_, shard, how, &page);
    page.finish();
  }
}

void ElasticDataParallel::finish_failed_ranks() {
  const c10::NoGradGuard no_grad;
  if (made_) update_failed_ranks(*made_);
}

ElasticDataParallel::Having ElasticDataParallel::having(bool is_new) const {
  if (is_new) return Having::Nothing;
  if (storage_) return Having::Layout;
  return has_state_ ? Having::Values : Having::FirstValues;
}

void ElasticDataParallel::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  finish_publishing();
  const comm::Group& group = placement_.all;
  const auto own = static_cast<std::uint8_t>(having(is_new));
  std::vector<std::uint8_t> all(static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::UInt8}, {&own, 1, comm::DType::UInt8},
                  {.label = "ranks with the state"})
      .wait();
  const auto most = std::max_element(all.begin(), all.end());
  const auto least = static_cast<Having>(*std::min_element(all.begin(), all.end()));
  const int source = static_cast<int>(most - all.begin());
  const bool has_strangers = least < Having::Values;  // a rank has not met the others yet
  if (has_strangers) expect_same_parameters(group, options_.parameters);
  if (static_cast<Having>(*most) == Having::Layout) {
    if (least < Having::Layout) {
      share_layout(source, all);
      share_spaces(source, all);
    }
  } else if (has_strangers) {
    std::vector<at::Tensor> values;
    for (const Parameter& parameter : options_.parameters) values.push_back(parameter.tensor);
    share(group, source, values);
  }
  if (has_strangers) share(group, source, buffers_.tensors());
  if (reduction_.coded() != nullptr) regroup_codec();
  group.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  is_surviving_ = false;
  if (storage_) {
    cut_shards();
    reduction_.connect(storage_->layout(), *gradients_, placement_);
  }
  // The last step is complete on all ranks.
  made_.reset();
}

// Ranks without a layout get the source's, with the names of shared memory of their own host.
void ElasticDataParallel::share_layout(int source, std::span<const std::uint8_t> having) {
  Blueprint blueprint = blueprint_;
  blueprint.order.resize(options_.parameters.size());
  placement_.all
      .broadcast({blueprint.order.data(), blueprint.order.size(), comm::DType::Int64}, source,
                 {.label = "layout"})
      .wait();
  const std::vector<int>& beside = placement_.host_ranks;
  const auto known = std::find_if(beside.begin(), beside.end(), [&](int rank) {
    return static_cast<Having>(having[static_cast<std::size_t>(rank)]) == Having::Layout;
  });
  if (!storage_) {
    blueprint.names = Blueprint::draw({}, options_.optimizer->state_names().size()).names;
  }
  placement_.host
      .broadcast({blueprint.names.data(), blueprint.names.size(), comm::DType::Int64},
                 known == beside.end() ? 0 : static_cast<int>(known - beside.begin()),
                 {.label = "names of shared memory"})
      .wait();
  if (storage_ && blueprint.names == blueprint_.names) return;
  // If no rank of this host has values, this rank's own are still useful should the source die.
  const bool is_attached = composition_.is_shared(placement_) && known != beside.end();
  lay_out(blueprint, is_attached);
}

// Ranks without state get the source's. Of a host whose ranks share one copy, its first rank does.
void ElasticDataParallel::share_spaces(int source, std::span<const std::uint8_t> having) {
  const StorageLayout& layout = storage_->layout();
  std::vector<at::Tensor> spaces{layout.values.memory};
  for (const FlatSpace& state : layout.states) spaces.push_back(state.memory);
  if (!composition_.is_shared(placement_)) return share(placement_.all, source, spaces);
  const std::vector<int>& leaders = placement_.host_leaders;
  if (leaders.size() == 1) return;
  const std::vector<int> host_of = placement_.all.hosts();
  std::vector<bool> has_state(leaders.size());
  for (std::size_t rank = 0; rank < having.size(); ++rank) {
    const bool has_layout = static_cast<Having>(having[rank]) == Having::Layout;
    if (has_layout) has_state[static_cast<std::size_t>(host_of[rank])] = true;
  }
  std::vector<int> members{source};
  for (std::size_t host = 0; host < leaders.size(); ++host) {
    if (!has_state[host]) members.push_back(leaders[host]);
  }
  const int me = placement_.all.rank();
  const bool is_member = std::find(members.begin(), members.end(), me) != members.end();
  if (members.size() == 1 || !is_member) return;
  share(placement_.all.subgroup(members), 0, spaces);
  if (me != source && storage_->has_copies()) layout.copies.memory.copy_(layout.values.memory);
}

// The last step whose residuals count. Those of a dropped step do not, and after regroup() no rank
// has residuals of the last step that it has not committed.
std::int64_t ElasticDataParallel::last_counted_step() const {
  const StepStatus& status = commit_.status();
  const bool is_finished = status.phase == StepStatus::Phase::Finished;
  return status.step - (is_finished ? 0 : 1) - (made_ ? 0 : 1);
}

// A new rank has made its codec with this group already, unless the codec is of hosts.
void ElasticDataParallel::regroup_codec() {
  if (is_codec_regrouped_) return;
  if (!composition_.is_per_host()) inherit_residuals();
  reduction_.coded()->regroup({.all = placement_.all,
                               .host = placement_.host,
                               .place = placement_.own_place(),
                               .last_step = last_counted_step()});
  is_codec_regrouped_ = true;
}

// Survivors take over the error-feedback residuals of failed ranks whose memory they share.
void ElasticDataParallel::inherit_residuals() {
  if (reduction_.coded()->feedback() == nullptr) return;
  const std::vector<int> successor_of = successors_of(cut_.places, placement_.places);
  for (std::size_t rank = 0; rank < successor_of.size(); ++rank) {
    const int place = cut_.places[rank];
    const bool is_mine = successor_of[rank] == placement_.own_place();
    if (is_mine && successor_of[rank] != place) {
      reduction_.coded()->feedback()->inherit(place, last_counted_step());
    }
  }
}

}  // namespace trireme::parallel::data
