#include "trireme/parallel/data/exchange.h"

#include <c10/core/GradMode.h>

#include <numeric>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel::data {
namespace {

constexpr const char* kResidual = "residual.";
constexpr const char* kKept = "codec.";

std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

codec::Part part_of(const at::Tensor& tensor, std::int64_t begin) {
  const auto count = static_cast<std::size_t>(tensor.numel());
  codec::Part part{
      .begin = static_cast<std::size_t>(begin), .count = count, .rows = 1, .columns = count};
  if (tensor.dim() >= 2 && count > 0) {
    part.rows = static_cast<std::size_t>(tensor.size(0));
    part.columns = count / part.rows;
  }
  return part;
}

}  // namespace

Exchange::Exchange(Options options, const BucketPlan& plan,
                   const std::vector<Parameter>& parameters)
    : options_(std::move(options)),
      bytes_(comm::Group::solo()),
      plan_(plan),
      parameters_(parameters),
      residuals_(residual_options()) {
  regroup(options_.group);
}

// With the places of what a bucket's codec keeps.
Residuals::Options Exchange::residual_options() {
  Residuals::Options all{.owed = options_.has_error_feedback ? plan_.count : 0,
                         .is_undoable = options_.is_lasting,
                         .estate = options_.estate};
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
    const BucketPlan::Bucket& bucket = plan_.buckets[b];
    Passage& passage = passages_.emplace_back();
    for (const BucketPlan::Entry& entry : bucket.entries) {
      const codec::Part part =
          part_of(parameters_[entry.parameter].tensor, entry.range.begin - bucket.range.begin);
      if (const auto count = static_cast<std::int64_t>(options_.codec->kept_count(part));
          count > 0) {
        const std::int64_t begin = all.owed + all.kept;
        kept_.push_back({.bucket = b,
                         .part = passage.parts.size(),
                         .parameter = entry.parameter,
                         .range = {begin, begin + count}});
        all.kept += count;
      }
      passage.parts.push_back(part);
    }
    passage.mine.resize(
        options_.codec->size_max(static_cast<std::size_t>(bucket.range.count()), passage.parts));
  }
  return all;
}

void Exchange::regroup(const comm::Group& group) {
  forget();
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
  residuals_.begin(step);
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
  for (const Kept& kept : kept_) {
    if (kept.bucket == bucket) passage.parts[kept.part].kept = residuals_.open(kept.range);
  }
  std::size_t size = 0;
  if (options_.has_error_feedback) {
    size = options_.codec->encode_fed(own, residuals_.open(plan_.buckets[bucket].range),
                                      passage.parts, draw, passage.mine);
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

std::string Exchange::residual_name(int rank, std::size_t parameter) const {
  return Agreement::state_name(kResidual + std::to_string(rank), parameters_[parameter].name);
}

at::Tensor Exchange::residual_of(std::size_t parameter) const {
  const ElementRange range = plan_.range_of[parameter];
  return residuals_.current().narrow(0, range.begin, range.count());
}

at::Tensor Exchange::kept_of(const Kept& kept) const {
  return residuals_.current().narrow(0, kept.range.begin, kept.range.count());
}

std::vector<checkpoint::Piece> Exchange::own_pieces() const {
  std::vector<checkpoint::Piece> all;
  const int rank = options_.group.rank();
  for (std::size_t i = 0; options_.has_error_feedback && i < parameters_.size(); ++i) {
    all.push_back({.name = residual_name(rank, i),
                   .sizes = parameters_[i].tensor.sizes().vec(),
                   .data = residual_of(i)});
  }
  for (const Kept& kept : kept_) {
    all.push_back({.name = Agreement::state_name(kKept + std::to_string(rank),
                                                 parameters_[kept.parameter].name),
                   .sizes = {kept.range.count()},
                   .data = kept_of(kept)});
  }
  return all;
}

void Exchange::restore(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  const int ranks = options_.group.size();
  for (std::size_t i = 0; options_.has_error_feedback && i < parameters_.size(); ++i) {
    const at::Tensor own = residual_of(i);
    own.zero_();
    for (int rank = options_.group.rank(); from.has(residual_name(rank, i)); rank += ranks) {
      own.add_(from.read(residual_name(rank, i)).view({-1}));
    }
  }
  for (const Kept& kept : kept_) {
    const std::string name = Agreement::state_name(kKept + std::to_string(options_.group.rank()),
                                                   parameters_[kept.parameter].name);
    const at::Tensor values = kept_of(kept);
    const bool is_there =
        from.has(name) && from.sizes(name) == std::vector<std::int64_t>{values.numel()};
    if (is_there) {
      from.read_into(name, values);
    } else {
      values.zero_();
    }
  }
}

}  // namespace trireme::parallel::data
