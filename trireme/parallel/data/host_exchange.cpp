#include "trireme/parallel/data/host_exchange.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel::data {

HostExchange::HostExchange(Options options, const BucketPlan& plan,
                           std::vector<Parameter> parameters)
    : options_(std::move(options)),
      plan_(plan),
      parameters_(std::move(parameters)),
      passages_(plan.buckets.size()) {}

// Whoever speaks goes on; otherwise the first that has heard it.
HostExchange::Speaker HostExchange::choose_speaker(const Seat& seat) const {
  const std::int64_t mine[] = {speaker_, own_ ? 1 : 0, seat.place};
  std::vector<std::int64_t> all(std::size(mine) * static_cast<std::size_t>(seat.inside.size()));
  seat.inside
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine, std::size(mine), comm::DType::Int64}, {.label = "who speaks"})
      .wait();
  const auto said = [&](int rank, std::size_t what) {
    return all[std::size(mine) * static_cast<std::size_t>(rank) + what];
  };
  Speaker speaker;
  int speaking = -1, hearer = -1;
  for (int rank = seat.inside.size(); rank-- > 0;) {
    if (said(rank, 1) != 0) speaking = rank;
    if (said(rank, 0) < 0) continue;
    hearer = rank;
    speaker.before.insert(static_cast<int>(said(rank, 0)));
  }
  speaker.rank = speaking >= 0 ? speaking : std::max(hearer, 0);
  speaker.place = static_cast<int>(said(speaker.rank, 2));
  return speaker;
}

// What a speaker that is gone owed, this one owes. Where one was lost on the way to speaking, not
// all know whom it followed.
void HostExchange::take_over(const Seat& seat, const comm::Group& speakers,
                             const std::set<int>& before) {
  if (own_) return own_->regroup({.all = speakers});
  own_.emplace(
      Exchange::Options{
          .group = speakers,
          .codec = options_.codec,
          .has_error_feedback = options_.has_error_feedback,
          .seed = options_.seed,
          .is_elastic = true,
          .shared = {.arena = options_.arena, .key = options_.key, .place = seat.place}},
      plan_, parameters_);
  for (const int place : before) {
    if (place == seat.place) continue;
    own_->feedback()->inherit(place, seat.last, Residuals::As::Follower);
  }
  own_->begin(step_);
}

void HostExchange::regroup(const Seat& seat) {
  forget();
  doorway_ = seat.inside.duplicate();
  const Speaker speaker = choose_speaker(seat);
  const std::uint8_t mine = speaker.rank == seat.inside.rank() ? 1 : 0;
  std::vector<std::uint8_t> all(static_cast<std::size_t>(seat.all.size()));
  seat.all
      .all_gather({all.data(), all.size(), comm::DType::UInt8}, {&mine, 1, comm::DType::UInt8},
                  {.label = "who speak"})
      .wait();
  speaking_ = speaker.rank;
  speaker_ = speaker.place;
  if (mine == 0) return;
  std::vector<int> speakers;
  for (int rank = 0; rank < seat.all.size(); ++rank) {
    if (all[static_cast<std::size_t>(rank)] != 0) speakers.push_back(rank);
  }
  take_over(seat, seat.all.subgroup(speakers), speaker.before);
}

void HostExchange::forget() {
  for (Passage& passage : passages_) passage = {};
  launched_ = opened_ = 0;
  if (own_) own_->forget();
}

void HostExchange::begin(std::int64_t step) {
  forget();
  step_ = step;
  traffic_ = {};
  if (own_) own_->begin(step);
}

void HostExchange::launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) {
  TRIREME_CHECK_EQ(bucket, launched_, "buckets in order");
  passages_[bucket] = {
      .filling = doorway_.barrier({.label = "bucket " + std::to_string(bucket) + " of the host"}),
      .values = values,
      .out = out};
  ++launched_;
  advance();
}

void HostExchange::open_next() {
  const std::size_t bucket = opened_++;
  if (own_) own_->launch(bucket, passages_[bucket].values, passages_[bucket].out);
}

void HostExchange::advance() {
  while (opened_ < launched_ && passages_[opened_].filling->is_done()) open_next();
}

// Of the last one all hear from the speaker.
bool HostExchange::is_done(std::size_t bucket) {
  advance();
  const bool is_last = bucket + 1 == passages_.size();
  return !is_last && bucket < opened_ && (!own_ || own_->is_done(bucket));
}

void HostExchange::finish(std::size_t bucket) {
  while (opened_ <= bucket) {
    passages_[opened_].filling->wait();
    open_next();
  }
  if (own_) own_->finish(bucket);
  if (bucket + 1 < passages_.size()) return;
  if (own_) traffic_ = own_->traffic();
  std::int64_t told[] = {traffic_.plain, traffic_.sent};
  doorway_.broadcast({told, std::size(told), comm::DType::Int64}, speaking_, {.label = "sums"})
      .wait();
  traffic_ = {.plain = told[0], .sent = told[1]};
}

}  // namespace trireme::parallel::data
