#include "trireme/parallel/local/late_gradients.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/optim/clip.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kLate = "late_gradient";

}  // namespace

LateGradients::LateGradients(FlatModel::Options options)
    : flat_(options),
      is_elastic_(options.is_elastic),
      last_{.flat = flat_.make()},
      ready_{.flat = flat_.make()} {
  if (is_elastic_) mine_ = flat_.make();
}

void LateGradients::poll() {
  if (is_travelling_) flat_.poll();
}

void LateGradients::land() {
  if (!is_travelling_) return;
  flat_.finish();
  is_travelling_ = false;
  traffic_ += flat_.traffic();
  last_.is_whole = true;
}

// A parameter without a gradient contributes zeros.
void LateGradients::replace(const StepPlan& plan, std::vector<bool> is_used) {
  flat_.commit();
  std::swap(last_, ready_);
  for (std::size_t i = 0; i < flat_.parameters().size(); ++i) {
    const at::Tensor& gradient = flat_.parameters()[i].tensor.grad();
    if (gradient.defined()) {
      flat_.at(last_.flat, i).copy_(gradient);
    } else {
      flat_.at(last_.flat, i).zero_();
    }
  }
  last_ = {.flat = last_.flat,
           .is_used = std::move(is_used),
           .is_there = true,
           .step = plan.step,
           .micro_batches = static_cast<int>(plan.micro_batches.size()),
           .micro_batch_count = plan.micro_batch_count};
  launch();
}

// If a rank is lost, complete() sums these gradients again.
void LateGradients::launch() {
  if (is_elastic_) mine_.copy_(last_.flat);
  if (is_paused_) return;
  is_travelling_ = true;
  try {
    flat_.launch(last_.flat, last_.step);
  } catch (const Error& error) {
    if (!is_elastic_ || error.code() != ErrorCode::PeerLost) throw;
  }
}

bool LateGradients::give() {
  for (std::size_t i = 0; ready_.is_there && i < flat_.parameters().size(); ++i) {
    at::Tensor parameter = flat_.parameters()[i].tensor;
    parameter.mutable_grad() = ready_.is_used[i] ? flat_.at(ready_.flat, i) : at::Tensor();
  }
  return ready_.is_there;
}

std::vector<checkpoint::Piece> LateGradients::pieces(bool is_first) {
  land();
  // The sum is the same on all ranks. One that is not finite is saved too, because the next step is
  // dropped with it.
  const bool is_broken = last_.is_there && !std::isfinite(optim::squared_norm(last_.flat));
  std::vector<checkpoint::Piece> all;
  if (flat_.exchange()) {
    data::ErrorFeedback& feedback = *flat_.exchange()->feedback();
    all = is_broken ? feedback.pieces() : feedback.pieces_once_committed();
  }
  if (!is_first || !last_.is_there) return all;
  const std::vector<checkpoint::Piece> late = flat_.pieces(last_.flat, kLate);
  for (std::size_t i = 0; i < late.size(); ++i) {
    if (last_.is_used[i]) all.push_back(late[i]);
  }
  return all;
}

void LateGradients::restore(const checkpoint::Checkpoint& from) {
  land();
  last_.flat.zero_();
  last_.is_there = false;
  last_.is_whole = true;
  last_.is_used.clear();
  for (const checkpoint::Piece& piece : flat_.pieces(last_.flat, kLate)) {
    const bool is_used = from.has(piece.name);
    if (is_used) from.read_into(piece.name, piece.data);
    last_.is_used.push_back(is_used);
    last_.is_there |= is_used;
  }
  if (flat_.exchange()) flat_.exchange()->feedback()->restore(from);
}

void LateGradients::drop() {
  flat_.undo();
  last_.is_there = false;
}

void LateGradients::pause() {
  is_paused_ = true;
  is_travelling_ = false;
  flat_.forget();
}
std::vector<std::int64_t> LateGradients::report() const {
  return {last_.is_there ? 1 : 0, last_.is_whole ? 1 : 0, last_.micro_batches, last_.step};
}

void LateGradients::complete(const comm::Group& group, const StateReports& all) {
  std::int64_t micro_batches = 0, step = 0;
  int source = -1;
  bool is_there = false, is_missing = false;
  for (int rank = 0; rank < all.ranks(); ++rank) {
    if (!all.has_state(rank)) continue;
    const auto report = all.numbers(rank);
    is_there |= report[0] != 0;
    const bool is_whole = report[1] != 0;
    if (is_whole && source < 0) source = rank;
    is_missing |= !is_whole;
    micro_batches += report[2];
    step = report[3];
  }
  if (!is_there || !is_missing) return;
  if (source >= 0) {
    comm::broadcast(group, last_.flat, source, {.label = "late gradients"}).wait();
  } else {
    last_.flat.copy_(mine_).mul_(all.has_state(group.rank())
                                     ? static_cast<double>(last_.micro_batch_count) /
                                           static_cast<double>(micro_batches)
                                     : 0);
    flat_.sum(last_.flat, step);
  }
  last_.is_whole = true;
}

void LateGradients::share(const comm::Group& group, int source) {
  comm::broadcast(group, last_.flat, source, {.label = "state"}).wait();
  std::vector<std::int64_t> numbers{last_.is_there ? 1 : 0, last_.step};
  last_.is_used.resize(flat_.parameters().size());
  for (const bool is_used : last_.is_used) numbers.push_back(is_used ? 1 : 0);
  group.broadcast({numbers.data(), numbers.size(), comm::DType::Int64}, source, {.label = "state"})
      .wait();
  last_.is_there = numbers[0] != 0;
  last_.is_whole = true;
  last_.step = numbers[1];
  for (std::size_t i = 0; i < last_.is_used.size(); ++i) last_.is_used[i] = numbers[2 + i] != 0;
}

}  // namespace trireme::parallel::local
