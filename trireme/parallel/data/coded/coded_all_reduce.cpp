#include "trireme/parallel/data/coded/coded_all_reduce.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel::data {
CodedAllReduce::CodedAllReduce(Options options, const BucketPlan& plan,
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
                plan, parameters) {
  for (const BucketPlan::Bucket& bucket : plan_.buckets) {
    Passage& passage = passages_.emplace_back();
    for (const BucketPlan::Entry& entry : bucket.entries) {
      passage.parts.push_back(
          part_of(parameters[entry.parameter].tensor, entry.range.begin - bucket.range.begin));
    }
    passage.mine.resize(
        codec_->size_max(static_cast<std::size_t>(bucket.range.count()), passage.parts));
  }
  regroup({.all = options_.group});
}

void CodedAllReduce::regroup(const Members& members) {
  forget();
  const comm::Group& group = members.all;
  feedback_.regroup({.rank = group.rank(), .count = group.size()});
  options_.group = group;
  bytes_ = codec_->is_fixed_size() ? group : group.duplicate();
  for (Passage& passage : passages_) passage.sizes.resize(static_cast<std::size_t>(group.size()));
}

void CodedAllReduce::forget() {
  for (Passage& passage : passages_) {
    passage.nominating.reset();
    passage.telling.reset();
    passage.gathering.reset();
    passage.values.reset();
    passage.out.reset();
  }
  launched_ = encoded_ = gathered_ = 0;
}

void CodedAllReduce::begin(std::int64_t step) {
  forget();
  step_ = step;
  feedback_.begin(step);
  traffic_ = {};
}

void CodedAllReduce::launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) {
  TRIREME_CHECK_EQ(bucket, launched_, "buckets must be launched in ascending order");
  passages_[bucket].values = values;
  passages_[bucket].out = out;
  if (joint_) nominate(bucket);
  ++launched_;
  advance();
}

void CodedAllReduce::encode_launched() {
  while (encoded_ < launched_) encode(encoded_++);
}

// Advances buckets as far as possible without waiting, in the same order on every rank.
void CodedAllReduce::advance() {
  const auto is_over = [](std::optional<comm::Work>& work) { return !work || work->is_done(); };
  while (encoded_ < launched_ && is_over(passages_[encoded_].nominating)) encode(encoded_++);
  while (gathered_ < encoded_ && is_over(passages_[gathered_].telling)) {
    start_gathering(gathered_++);
  }
}

void CodedAllReduce::nominate(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  const std::vector<std::size_t>& counts = options_.beside->counts[bucket];
  const std::size_t whole = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const std::size_t picked = joint_->picked_of(whole);
  passage.nominated = codec::nominate(floats_of(passage.values),
                                      feedback_.owed(plan_.buckets[bucket].range), picked);
  passage.voters.clear();
  for (const std::size_t count : counts) passage.voters.push_back(std::min(count, picked));
  passage.nominations.resize(
      std::accumulate(passage.voters.begin(), passage.voters.end(), std::size_t{0}));
  passage.nominating = options_.beside->group.all_gather(
      {passage.nominations.data(), passage.nominations.size(), comm::DType::Float32},
      {passage.nominated.data(), passage.nominated.size(), comm::DType::Float32}, passage.voters,
      {.label = "nominations of " + std::to_string(bucket)});
}

// The number of values that this rank may send. Waits for the nominations of other ranks.
std::size_t CodedAllReduce::quota_of(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  if (!passage.nominating) return 0;
  passage.nominating->wait();
  passage.nominating.reset();
  const std::vector<std::size_t>& counts = options_.beside->counts[bucket];
  const std::size_t whole = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  return codec::quota_of(passage.nominations, passage.voters,
                         static_cast<std::size_t>(options_.beside->group.rank()),
                         joint_->picked_of(whole));
}

void CodedAllReduce::encode(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  const std::span<const float> own = floats_of(passage.values);
  const codec::Draw draw{.seed = options_.seed,
                         .stream = static_cast<std::uint64_t>(step_) << 20 | bucket,
                         .rank = static_cast<std::uint32_t>(options_.group.rank()),
                         .quota = quota_of(bucket)};
  const BucketPlan::Bucket& of = plan_.buckets[bucket];
  for (std::size_t i = 0; i < of.entries.size(); ++i) {
    passage.parts[i].kept = feedback_.open_kept(of.entries[i].parameter);
  }
  std::size_t size = 0;
  if (options_.has_error_feedback) {
    size = codec_->encode_fed(own, feedback_.open(of.range), passage.parts, draw, passage.mine);
  } else {
    size = codec_->encode(own, passage.parts, draw, passage.mine);
  }
  passage.size = static_cast<std::int64_t>(size);
  traffic_.plain += static_cast<std::int64_t>(own.size_bytes());
  traffic_.sent += passage.size;
  if (codec_->is_fixed_size()) {
    passage.sizes.assign(passage.sizes.size(), passage.size);
    return;
  }
  passage.telling = options_.group.all_gather(
      {passage.sizes.data(), passage.sizes.size(), comm::DType::Int64},
      {&passage.size, 1, comm::DType::Int64}, {.label = "size of " + std::to_string(bucket)});
}

// Waits for the sizes of the encoded buckets of all ranks.
void CodedAllReduce::start_gathering(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  if (passage.telling) passage.telling->wait();
  passage.telling.reset();
  const std::vector<std::size_t> counts(passage.sizes.begin(), passage.sizes.end());
  const std::size_t whole = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  if (passage.all.size() < whole) passage.all.resize(whole);
  passage.gathering = bytes_.all_gather(
      {passage.all.data(), whole, comm::DType::UInt8},
      {passage.mine.data(), static_cast<std::size_t>(passage.size), comm::DType::UInt8}, counts,
      {.label = "bucket " + std::to_string(bucket)});
}

bool CodedAllReduce::is_done(std::size_t bucket) {
  advance();
  return bucket < gathered_ && passages_[bucket].gathering->is_done();
}

void CodedAllReduce::finish(std::size_t bucket) {
  while (encoded_ <= bucket) encode(encoded_++);
  while (gathered_ <= bucket) start_gathering(gathered_++);
  Passage& passage = passages_[bucket];
  passage.gathering->wait();
  passage.gathering.reset();
  passage.out.zero_();
  const std::span<float> sum = floats_of(passage.out);
  const std::byte* at = passage.all.data();
  for (const std::int64_t size : passage.sizes) {
    codec_->add({at, static_cast<std::size_t>(size)}, passage.parts, sum);
    at += size;
  }
  passage.values.reset();
  passage.out.reset();
}

}  // namespace trireme::parallel::data
