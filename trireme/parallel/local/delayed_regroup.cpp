// The recovery of Delayed: it continues with a new group, completes gradients that were in flight,
// and sends the state to new ranks.

#include <c10/core/GradMode.h>

#include <algorithm>
#include <iterator>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/local/delayed.h"

namespace trireme::parallel::local {

void Delayed::survive(const comm::Group& group, std::vector<int> /*places*/) {
  is_surviving_ = true;
  is_travelling_ = false;
  flat_.forget();
  group_ = group;
  commit_.regroup(group);
}

std::vector<Delayed::Report> Delayed::reports(bool is_new) const {
  const bool has_state = has_state_ && !is_new;
  const std::int64_t mine[] = {has_state ? 1 : 0, last_.is_there ? 1 : 0, last_.is_whole ? 1 : 0,
                               last_.micro_batches, last_.step};
  std::vector<std::int64_t> all(std::size(mine) * static_cast<std::size_t>(group_.size()));
  group_
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine, std::size(mine), comm::DType::Int64}, {.label = "state reports"})
      .wait();
  std::vector<Report> reports;
  for (std::size_t at = 0; at < all.size(); at += std::size(mine)) {
    reports.push_back({.has_state = all[at] != 0,
                       .is_there = all[at + 1] != 0,
                       .is_whole = all[at + 2] != 0,
                       .micro_batches = all[at + 3],
                       .step = all[at + 4]});
  }
  return reports;
}

void Delayed::regroup(bool is_new) {
  const c10::NoGradGuard no_grad;
  // The step will run again and will change the buffers again.
  const bool is_open = commit_.status().phase == StepStatus::Phase::Open;
  for (std::size_t i = 0; is_open && i < first_buffers_.size(); ++i) {
    buffers_[i].copy_(first_buffers_[i]);
  }
  const std::vector<Report> all = reports(is_new);
  flat_.regroup(group_);
  complete(all);
  share(all);
  group_.barrier({.label = "regrouped"}).wait();
  has_state_ = true;
  is_surviving_ = false;
}

// Completes the gradients that were in flight: a rank that has their sum broadcasts it, or all
// ranks sum their own again. A new rank has none and contributes zeros.
void Delayed::complete(const std::vector<Report>& all) {
  std::int64_t micro_batches = 0, step = 0;
  int source = -1;
  bool is_there = false, is_missing = false;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].has_state) continue;
    if (all[rank].is_whole && source < 0) source = static_cast<int>(rank);
    is_there |= all[rank].is_there;
    is_missing |= !all[rank].is_whole;
    micro_batches += all[rank].micro_batches;
    step = all[rank].step;
  }
  if (!is_there || !is_missing) return;
  if (source >= 0) {
    comm::broadcast(group_, last_.flat, source, {.label = "late gradients"}).wait();
  } else {
    const bool is_mine = all[static_cast<std::size_t>(group_.rank())].has_state;
    last_.flat.copy_(mine_).mul_(is_mine ? static_cast<double>(last_.micro_batch_count) /
                                               static_cast<double>(micro_batches)
                                         : 0);
    flat_.sum(last_.flat, step);
  }
  last_.is_whole = true;
}

// Ranks without a state get that of the first rank that has one.
void Delayed::share(const std::vector<Report>& all) {
  const auto has_state = [](const Report& one) { return one.has_state; };
  if (std::all_of(all.begin(), all.end(), has_state)) return;
  const auto found = std::find_if(all.begin(), all.end(), has_state);
  const int source = found == all.end() ? 0 : static_cast<int>(found - all.begin());
  expect_same_parameters(group_, own_->parameters());
  const auto give = [&](const at::Tensor& tensor) {
    comm::broadcast(group_, tensor, source, {.label = "state"}).wait();
  };
  // Ranks that have the state receive identical values, so this changes nothing for them.
  for (const checkpoint::Piece& piece : own_->saved().pieces()) give(piece.data);
  for (const at::Tensor& buffer : buffers_) give(buffer);
  give(last_.flat);
  std::vector<std::int64_t> numbers{last_.is_there ? 1 : 0, last_.step};
  last_.is_used.resize(own_->parameters().size());
  for (const bool is_used : last_.is_used) numbers.push_back(is_used ? 1 : 0);
  group_.broadcast({numbers.data(), numbers.size(), comm::DType::Int64}, source, {.label = "state"})
      .wait();
  last_.is_there = numbers[0] != 0;
  last_.is_whole = true;
  last_.step = numbers[1];
  for (std::size_t i = 0; i < last_.is_used.size(); ++i) last_.is_used[i] = numbers[2 + i] != 0;
}

}  // namespace trireme::parallel::local
