#include "trireme/parallel/local/fragment.h"

#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/local/pairing.h"

namespace trireme::parallel::local {
namespace {

constexpr const char* kAnchor = "outer_anchor";
constexpr const char* kMomentum = "outer_momentum";
constexpr const char* kMean = "outer_mean";
constexpr const char* kSent = "outer_sent.";
constexpr const char* kLaunched = "outer_launched";
constexpr std::uint32_t kPairTag = 0x90551;

// The exchange must know that the result is a mean, so that residuals are weighted by the number of
// replicas.
FlatModel::Options of_mean(FlatModel::Options flat) {
  flat.is_mean = true;
  return flat;
}

}  // namespace

Fragment::Fragment(Options options) : options_(std::move(options)), flat_(of_mean(options_.flat)) {
  const c10::NoGradGuard no_grad;
  work_ = flat_.make();
  if (is_pair()) partner_ = flat_.make();
  const bool has_limit = options_.pace.end.divergence > 0;
  if (options_.gathering == CombineRule::Outer || options_.flat.codec || has_limit) {
    anchor_ = flat_.make();
    flat_.read_values(anchor_);
  }
  if (options_.pace.outer_momentum > 0) momentum_ = flat_.make();
  if (is_overlapped()) sent_ = flat_.make();
}

void Fragment::depart(std::int64_t step) {
  const c10::NoGradGuard no_grad;
  launched_ = step;
  is_summed_ = is_known_ = false;
  flat_.read_values(is_overlapped() ? sent_ : work_);
}

void Fragment::send() {
  const c10::NoGradGuard no_grad;
  is_summed_ = false;
  if (is_overlapped()) work_.copy_(sent_);
  if (is_pair()) return send_to_other();
  if (anchor_.defined()) work_.neg_().add_(anchor_);
  if (!is_speaker()) return;
  flat_.launch(work_, launched_);
  traffic_ = flat_.traffic();
}

// If the number of ranks is odd, one has no partner. It may be another rank when values are sent
// again after a failure.
void Fragment::send_to_other() {
  const comm::Group& group = options_.flat.group;
  const Round round{.seed = options_.flat.seed, .number = launched_};
  const int other = partners_of(group.size(), round)[static_cast<std::size_t>(number())];
  is_alone_ = other == number();
  traffic_ = {};
  if (is_alone_) return;
  meeting_.push_back(comm::send(group, work_, other, kPairTag, {.label = "weights"}));
  meeting_.push_back(comm::receive(group, partner_, other, kPairTag, {.label = "weights"}));
  const auto size = static_cast<std::int64_t>(work_.nbytes());
  traffic_ = {.plain = size, .sent = size};
}

void Fragment::poll() {
  if (!is_travelling() || is_summed_) return;
  for (comm::TensorWork& work : meeting_) work.is_done();
  if (!is_pair()) flat_.poll();
}

// Afterwards work_ is the mean over all replicas, or over the pair.
void Fragment::arrive() {
  if (!is_travelling() || is_summed_) return;
  const c10::NoGradGuard no_grad;
  if (is_pair()) {
    for (comm::TensorWork& work : meeting_) work.wait();
    // Addition is commutative, so both ranks of the pair get bitwise identical values.
    if (!meeting_.empty()) work_.add_(partner_).mul_(0.5);
    meeting_.clear();
  } else {
    flat_.finish();
    if (is_speaker()) work_.div_(options_.role.count);
    comm::broadcast(options_.role.inside, work_, 0, {.label = "mean"}).wait();
  }
  is_summed_ = true;
}

void Fragment::prepare() {
  arrive();
  if (!is_overlapped() || options_.role.inside.size() == 1) return;
  if (!now_.defined()) now_ = flat_.make();
  flat_.read_values(now_);
}

void Fragment::land() {
  if (!is_travelling()) return;
  const c10::NoGradGuard no_grad;
  launched_ = -1;
  is_known_ = false;
  flat_.commit();
  if (is_pair() && is_overlapped()) {
    if (is_alone_) return;
    flat_.read_values(partner_);
    return flat_.write_values(partner_.sub_(sent_).add_(work_));
  }
  if (!anchor_.defined()) return flat_.write_values(work_);
  if (momentum_.defined()) {
    momentum_.mul_(options_.pace.outer_momentum).add_(work_);
    work_.add_(momentum_, options_.pace.outer_momentum);
  }
  anchor_.sub_(work_, options_.pace.outer_lr);
  if (!is_overlapped()) return flat_.write_values(anchor_);
  if (options_.role.inside.size() > 1) {
    work_.copy_(now_);
  } else {
    flat_.read_values(work_);
  }
  flat_.write_values(work_.sub_(sent_).add_(anchor_));
}

void Fragment::forget() {
  launched_ = -1;
  is_known_ = false;
  meeting_.clear();
  flat_.forget();
}

void Fragment::regroup(const Role& role) {
  meeting_.clear();
  is_summed_ = is_known_;
  options_.role = role;
  options_.flat.group = role.across;
  flat_.regroup(role.across);
}

std::vector<at::Tensor> Fragment::outer_state() const {
  std::vector<at::Tensor> all;
  if (anchor_.defined()) all.push_back(anchor_);
  if (momentum_.defined()) all.push_back(momentum_);
  if (sent_.defined()) all.insert(all.end(), {sent_, work_});
  return all;
}

void Fragment::go_along(std::int64_t launched, bool is_known) {
  launched_ = launched;
  is_summed_ = is_known_ = is_known;
  is_alone_ = false;
}

Fragment::Squares Fragment::squares() {
  const c10::NoGradGuard no_grad;
  flat_.read_values(work_);
  return {.moved = flat_.squared_norm(work_.sub_(anchor_)), .norm = flat_.squared_norm(anchor_)};
}

std::string Fragment::sent_name() const {
  return kSent + std::to_string(number());
}

std::string Fragment::mean_name() const {
  return is_pair() ? kMean + ("." + std::to_string(number())) : kMean;
}

// Every replica of a gossip job saves its own flight.
std::string Fragment::launched_name(int number) const {
  return state_name(is_pair() ? kLaunched + ("." + std::to_string(number)) : std::string(kLaunched),
                    std::to_string(options_.index));
}

std::vector<checkpoint::Piece> Fragment::own_pieces() {
  std::vector<checkpoint::Piece> all;
  const auto add = [&all](std::vector<checkpoint::Piece> more) {
    for (checkpoint::Piece& piece : more) all.push_back(std::move(piece));
  };
  // Anchor and momentum are the same on all replicas; the first replica saves them.
  const bool is_first = number() == 0;
  if (is_travelling()) arrive();
  if (!is_speaker()) return all;
  if (anchor_.defined() && is_first) add(flat_.pieces(anchor_, kAnchor));
  if (momentum_.defined() && is_first) add(flat_.pieces(momentum_, kMomentum));
  if (is_travelling()) {
    if (is_first || is_pair()) add(flat_.pieces(work_, mean_name()));
    add(flat_.pieces(sent_, sent_name()));
  }
  if (is_travelling() && (options_.role.is_saver || is_pair())) {
    flight_ = at::full({1}, launched_, at::kLong);
    all.push_back({.name = launched_name(number()), .shard = {{1}}, .data = flight_});
  }
  if (!flat_.exchange()) return all;
  // The mean has arrived and is saved, so the residuals are saved as they are after land().
  const data::ErrorFeedback& feedback = *flat_.exchange()->feedback();
  add(is_travelling() ? feedback.pieces_once_committed() : feedback.pieces());
  return all;
}

void Fragment::restore(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  arrive();
  launched_ = -1;
  is_known_ = false;
  if (anchor_.defined()) {
    flat_.read_values(anchor_);
    flat_.restore(anchor_, kAnchor, from);
  }
  if (momentum_.defined() && !flat_.restore(momentum_, kMomentum, from)) momentum_.zero_();
  if (flat_.exchange() && is_speaker()) flat_.exchange()->feedback()->restore(from);
  if (restore_flight(from) || !flat_.has_some(kMean, from)) return;
  // The values that were in flight cannot be restored, so the next round sends this replica's whole
  // difference, which includes them. Residuals of the lost flight would count parts of it twice.
  if (flat_.exchange()) flat_.exchange()->feedback()->clear();
}

// False if the checkpoint holds no values in flight, or those of other fragments, or if this job
// has no overlap.
bool Fragment::restore_flight(const checkpoint::Checkpoint& from) {
  const bool is_new = !from.has(launched_name(number()));
  const std::string launched = launched_name(is_new ? 0 : number());
  if (!is_overlapped() || !from.has(launched)) return false;
  // A replica that the checkpoint does not know counts as having sent its current values. In a
  // gossip job it has no partner, so those values are also the mean.
  flat_.read_values(sent_);
  flat_.restore(sent_, sent_name(), from);
  if (is_pair() && is_new) {
    work_.copy_(sent_);
  } else if (!flat_.restore(work_, mean_name(), from)) {
    return false;
  }
  launched_ = from.read(launched).item<std::int64_t>();
  is_alone_ = false;
  is_summed_ = is_known_ = true;
  return true;
}

}  // namespace trireme::parallel::local
