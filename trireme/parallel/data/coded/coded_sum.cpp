#include "trireme/parallel/data/coded/coded_sum.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::parallel::data {
namespace {

std::size_t total_of(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

CodedSum::CodedSum(Options options, const BucketPlan& plan,
                   const std::vector<Parameter>& parameters)
    : options_(std::move(options)),
      bytes_(comm::Group::solo()),
      plan_(plan),
      joint_(options_.beside ? options_.codec->joint() : nullptr),
      codec_(joint_ ? joint_ : options_.codec),
      feedback_({.codec = options_.codec,
                 .contributor = {.rank = options_.group.rank(), .count = options_.group.size()},
                 .has_error_feedback = options_.has_error_feedback,
                 .is_mean = options_.is_mean,
                 .is_undoable = options_.is_undoable,
                 .shared = options_.shared},
                plan, parameters),
      passages_(plan.buckets.size()) {
  for (const Parameter& parameter : parameters) shapes_.push_back(part_of(parameter.tensor, 0));
  for (std::size_t b = 0; joint_ && b < passages_.size(); ++b) {
    Passage& passage = passages_[b];
    const std::vector<std::size_t>& counts = options_.beside->counts[b];
    passage.picked = joint_->picked_of(total_of(counts));
    for (const auto count : counts) passage.voters.push_back(std::min(count, passage.picked));
    passage.nominations.resize(total_of(passage.voters));
  }
  regroup({.all = options_.group});
}

CodedSum::Message CodedSum::message_of(const BucketPlan::Bucket& bucket, int rank) const {
  Message message{.range =
                      is_scattered() ? bucket.slice(rank, options_.group.size()) : bucket.range};
  for (const BucketPlan::Entry& entry : bucket.entries) {
    const ElementRange range = common(entry.range, message.range);
    if (range.count() <= 0) continue;
    const bool is_whole = range == entry.range;
    const auto count = static_cast<std::size_t>(range.count());
    codec::BucketPart part =
        is_whole ? shapes_[entry.parameter] : codec::BucketPart{.count = count, .columns = count};
    part.begin = static_cast<std::size_t>(range.begin - message.range.begin);
    message.parts.push_back(part);
    message.wholes.push_back(is_whole ? std::optional(entry.parameter) : std::nullopt);
  }
  message.size_max =
      codec_->size_max(static_cast<std::size_t>(message.range.count()), message.parts);
  return message;
}

void CodedSum::regroup(const Members& members) {
  forget();
  const comm::Group& group = members.all;
  options_.group = group;
  own_ = is_scattered() ? static_cast<std::size_t>(group.rank()) : 0;
  feedback_.regroup({.rank = group.rank(), .count = group.size()});
  bytes_ = codec_->is_fixed_size() ? group : group.duplicate();
  for (std::size_t b = 0; b < passages_.size(); ++b) {
    Passage& passage = passages_[b];
    passage.messages.clear();
    std::size_t size = 0;
    for (int rank = 0; rank < (is_scattered() ? group.size() : 1); ++rank) {
      passage.messages.push_back(message_of(plan_.buckets[b], rank));
      if (!is_scattered() || rank != group.rank()) size += passage.messages.back().size_max;
    }
    passage.sent.resize(size);
    passage.sizes_sent.assign(passage.messages.size(), 0);
    passage.sizes_received.resize(static_cast<std::size_t>(group.size()));
  }
}

void CodedSum::forget() {
  for (Passage& passage : passages_) {
    passage.ready = {};
    passage.telling = {};
    passage.moving = {};
    passage.values.reset();
    passage.out.reset();
  }
  launched_ = encoded_ = moved_ = 0;
}

void CodedSum::begin(std::int64_t step) {
  forget();
  step_ = step;
  feedback_.begin(step);
  traffic_ = {};
}

void CodedSum::launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out,
                      comm::Work written) {
  TRIREME_CHECK_EQ(bucket, launched_, "buckets must be launched in ascending order");
  Passage& passage = passages_[bucket];
  passage.values = values;
  passage.out = out;
  passage.ready = joint_ ? nominate(bucket) : std::move(written);
  ++launched_;
  advance();
}

void CodedSum::encode_launched() {
  while (encoded_ < launched_) encode(encoded_++);
}

// Advances buckets as far as possible without waiting, in the same order on every rank.
void CodedSum::advance() {
  while (encoded_ < launched_ && passages_[encoded_].ready.is_done()) encode(encoded_++);
  while (moved_ < encoded_ && passages_[moved_].telling.is_done()) start_moving(moved_++);
}

comm::Work CodedSum::nominate(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  passage.nominated = codec::nominate(
      floats_of(passage.values), feedback_.residual(plan_.buckets[bucket].range), passage.picked);
  return options_.beside->group.all_gather(
      {passage.nominations.data(), passage.nominations.size(), comm::DType::Float32},
      {passage.nominated.data(), passage.nominated.size(), comm::DType::Float32}, passage.voters,
      {.label = "nominations of " + std::to_string(bucket)});
}

// Waits until the values can be encoded. A rank's own shard is neither encoded nor sent.
void CodedSum::encode(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  passage.ready.wait();
  const std::span<const float> all = floats_of(passage.values);
  std::size_t size = 0;
  for (std::size_t i = 0; i < passage.messages.size(); ++i) {
    const ElementRange range = passage.messages[i].range;
    const std::span<const float> some =
        all.subspan(static_cast<std::size_t>(range.begin - plan_.buckets[bucket].range.begin),
                    static_cast<std::size_t>(range.count()));
    if (is_scattered() && i == own_) {
      keep(passage, some);
      continue;
    }
    passage.sizes_sent[i] = encode(bucket, i, some, std::span(passage.sent).subspan(size));
    size += passage.sizes_sent[i];
    traffic_.plain += static_cast<std::int64_t>(some.size_bytes());
  }
  traffic_.sent += static_cast<std::int64_t>(size);
  passage.values.reset();
  tell_sizes(bucket);
}

// Adds the residual of this rank's own shard to its values; no residual remains.
void CodedSum::keep(Passage& passage, std::span<const float> values) {
  passage.own.assign(values.begin(), values.end());
  const std::span<float> residual = feedback_.open(passage.messages[own_].range);
  for (std::size_t i = 0; i < residual.size(); ++i) {
    passage.own[i] += std::exchange(residual[i], 0.0f);
  }
}

std::size_t CodedSum::encode(std::size_t bucket, std::size_t message, std::span<const float> values,
                             std::span<std::byte> out) {
  Passage& passage = passages_[bucket];
  const auto rank = static_cast<std::size_t>(options_.group.rank());
  codec::Draw draw{.seed = options_.seed,
                   .stream = static_cast<std::uint64_t>(step_) << 20 | bucket,
                   .rank = static_cast<std::uint32_t>(rank * passage.messages.size() + message)};
  if (joint_) {
    draw.quota =
        codec::quota_of(passage.nominations, passage.voters,
                        static_cast<std::size_t>(options_.beside->group.rank()), passage.picked);
  }
  Message& of = passage.messages[message];
  for (std::size_t i = 0; i < of.parts.size(); ++i) {
    if (of.wholes[i]) of.parts[i].kept = feedback_.open_kept(*of.wholes[i]);
  }
  if (!options_.has_error_feedback) return codec_->encode(values, of.parts, draw, out);
  return codec_->encode_fed(values, feedback_.open(of.range), of.parts, draw, out);
}

void CodedSum::tell_sizes(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  if (codec_->is_fixed_size()) {
    std::fill(passage.sizes_received.begin(), passage.sizes_received.end(),
              passage.messages[own_].size_max);
    if (is_scattered()) passage.sizes_received[own_] = 0;
    return;
  }
  const comm::Span theirs{passage.sizes_received.data(), passage.sizes_received.size(),
                          comm::DType::Int64};
  const comm::ConstSpan mine{passage.sizes_sent.data(), passage.sizes_sent.size(),
                             comm::DType::Int64};
  const std::string label = "sizes of " + std::to_string(bucket);
  passage.telling = is_scattered() ? options_.group.all_to_all(theirs, mine, {.label = label})
                                   : options_.group.all_gather(theirs, mine, {.label = label});
}

// Waits for the sizes of what other ranks send.
void CodedSum::start_moving(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  passage.telling.wait();
  const std::size_t most = passage.messages[own_].size_max;
  for (const std::size_t size : passage.sizes_received) {
    if (size <= most) continue;
    throw Error(ErrorCode::Corrupt, "encoded values of " + std::to_string(size) +
                                        " bytes; the maximum is " + std::to_string(most));
  }
  const std::size_t size = total_of(passage.sizes_received);
  if (passage.received.size() < size) passage.received.resize(size);
  const comm::Span theirs{passage.received.data(), size, comm::DType::UInt8};
  const comm::ConstSpan mine{passage.sent.data(), total_of(passage.sizes_sent), comm::DType::UInt8};
  const std::string label = "bucket " + std::to_string(bucket);
  if (is_scattered()) {
    passage.moving = bytes_.all_to_all(theirs, passage.sizes_received, mine, passage.sizes_sent,
                                       {.label = label});
  } else {
    passage.moving = bytes_.all_gather(theirs, mine, passage.sizes_received, {.label = label});
  }
}

bool CodedSum::is_done(std::size_t bucket) {
  advance();
  return bucket < moved_ && passages_[bucket].moving.is_done();
}

void CodedSum::finish(std::size_t bucket) {
  while (encoded_ <= bucket) encode(encoded_++);
  while (moved_ <= bucket) start_moving(moved_++);
  Passage& passage = passages_[bucket];
  passage.moving.wait();
  passage.out.zero_();
  const std::span<float> sum = floats_of(passage.out);
  const std::byte* at = passage.received.data();
  for (std::size_t rank = 0; rank < passage.sizes_received.size(); ++rank) {
    if (is_scattered() && rank == own_) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += passage.own[i];
      continue;
    }
    codec_->add({at, passage.sizes_received[rank]}, passage.messages[own_].parts, sum);
    at += passage.sizes_received[rank];
  }
  passage.out.reset();
}

}  // namespace trireme::parallel::data
