#include "trireme/parallel/data/exchange.h"

#include <numeric>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel::data {
namespace {

std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

Exchange::Exchange(Options options, const BucketPlan& plan,
                   const std::vector<Parameter>& parameters, std::vector<checkpoint::Piece> parts)
    : options_(std::move(options)),
      bytes_(comm::Group::solo()),
      plan_(plan),
      debts_({.codec = options_.codec,
              .debtor = {.rank = options_.group.rank(), .count = options_.group.size()},
              .has_error_feedback = options_.has_error_feedback,
              .is_mean = options_.is_mean,
              .is_lasting = options_.is_lasting,
              .estate = options_.estate},
             plan, parameters, std::move(parts)) {
  for (const BucketPlan::Bucket& bucket : plan_.buckets) {
    Passage& passage = passages_.emplace_back();
    for (const BucketPlan::Entry& entry : bucket.entries) {
      passage.parts.push_back(
          part_of(parameters[entry.parameter].tensor, entry.range.begin - bucket.range.begin));
    }
    passage.mine.resize(
        options_.codec->size_max(static_cast<std::size_t>(bucket.range.count()), passage.parts));
  }
  regroup(options_.group);
}

void Exchange::regroup(const comm::Group& group) {
  forget();
  debts_.regroup({.rank = group.rank(), .count = group.size()});
  options_.group = group;
  bytes_ = options_.codec->is_fixed_size() ? group : group.duplicate();
  for (Passage& passage : passages_) passage.sizes.resize(static_cast<std::size_t>(group.size()));
}

void Exchange::forget() {
  for (Passage& passage : passages_) {
    passage.telling.reset();
    passage.gathering.reset();
    passage.values.reset();
  }
  launched_ = 0;
}

void Exchange::begin(std::int64_t step) {
  forget();
  step_ = step;
  debts_.begin(step);
  traffic_ = {};
}

void Exchange::launch(std::size_t bucket, at::Tensor values) {
  TRIREME_CHECK_EQ(bucket, launched_, "buckets in order");
  Passage& passage = passages_[bucket];
  passage.values = std::move(values);
  const std::span<const float> own = floats_of(passage.values);
  const codec::Draw draw{.seed = options_.seed,
                         .stream = static_cast<std::uint64_t>(step_) << 20 | bucket,
                         .rank = static_cast<std::uint32_t>(options_.group.rank())};
  const BucketPlan::Bucket& of = plan_.buckets[bucket];
  for (std::size_t i = 0; i < of.entries.size(); ++i) {
    passage.parts[i].kept = debts_.open_kept(of.entries[i].parameter);
  }
  std::size_t size = 0;
  if (options_.has_error_feedback) {
    size =
        options_.codec->encode_fed(own, debts_.open(of.range), passage.parts, draw, passage.mine);
  } else {
    size = options_.codec->encode(own, passage.parts, draw, passage.mine);
  }
  ++launched_;
  passage.size = static_cast<std::int64_t>(size);
  traffic_.plain += static_cast<std::int64_t>(own.size_bytes());
  traffic_.sent += passage.size;
  if (options_.codec->is_fixed_size()) {
    passage.sizes.assign(passage.sizes.size(), passage.size);
    start_gathering(bucket);
    return;
  }
  passage.telling = options_.group.all_gather(
      {passage.sizes.data(), passage.sizes.size(), comm::DType::Int64},
      {&passage.size, 1, comm::DType::Int64}, {.label = "size of " + std::to_string(bucket)});
}

void Exchange::start_gathering(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  const std::vector<std::size_t> counts(passage.sizes.begin(), passage.sizes.end());
  const std::size_t whole = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  if (passage.all.size() < whole) passage.all.resize(whole);
  passage.gathering = bytes_.all_gather(
      {passage.all.data(), whole, comm::DType::UInt8},
      {passage.mine.data(), static_cast<std::size_t>(passage.size), comm::DType::UInt8}, counts,
      {.label = "bucket " + std::to_string(bucket)});
}

// Sizes come first where they vary; whose bytes follow is asked in the order of buckets.
bool Exchange::is_done(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  if (passage.telling) {
    if (!passage.telling->is_done()) return false;
    passage.telling->wait();
    passage.telling.reset();
    start_gathering(bucket);
  }
  return passage.gathering->is_done();
}

void Exchange::finish(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  if (passage.telling) {
    passage.telling->wait();
    passage.telling.reset();
    start_gathering(bucket);
  }
  passage.gathering->wait();
  passage.gathering.reset();
  passage.values.zero_();
  const std::span<float> sum = floats_of(passage.values);
  const std::byte* at = passage.all.data();
  for (const std::int64_t size : passage.sizes) {
    options_.codec->add({at, static_cast<std::size_t>(size)}, passage.parts, sum);
    at += size;
  }
  passage.values.reset();
}

}  // namespace trireme::parallel::data
