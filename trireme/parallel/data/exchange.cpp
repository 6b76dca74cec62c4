#include "trireme/parallel/data/exchange.h"

#include <ATen/ops/zeros.h>
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
      bytes_(options_.codec->is_fixed_size() ? options_.group : options_.group.duplicate()),
      plan_(plan),
      parameters_(parameters) {
  if (options_.has_error_feedback) residual_ = at::zeros({plan_.count}, at::kFloat);
  for (const BucketPlan::Bucket& bucket : plan_.buckets) {
    Passage& passage = passages_.emplace_back();
    for (const BucketPlan::Entry& entry : bucket.entries) {
      codec::Part part =
          part_of(parameters_[entry.parameter].tensor, entry.range.begin - bucket.range.begin);
      if (const std::size_t count = options_.codec->kept_count(part); count > 0) {
        kept_.push_back(
            {entry.parameter, at::zeros({static_cast<std::int64_t>(count)}, at::kFloat)});
        part.kept = floats_of(kept_.back().values);
      }
      passage.parts.push_back(part);
    }
    passage.mine.resize(
        options_.codec->size_max(static_cast<std::size_t>(bucket.range.count()), passage.parts));
    passage.sizes.resize(static_cast<std::size_t>(options_.group.size()));
  }
}

void Exchange::begin(std::int64_t step) {
  for (Passage& passage : passages_) {
    passage.telling.reset();
    passage.gathering.reset();
  }
  step_ = step;
  launched_ = 0;
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
  std::size_t size = 0;
  if (residual_.defined()) {
    const ElementRange range = plan_.buckets[bucket].range;
    size = options_.codec->encode_fed(
        own, floats_of(residual_).subspan(static_cast<std::size_t>(range.begin), own.size()),
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
  return residual_.narrow(0, range.begin, range.count());
}

std::vector<checkpoint::Piece> Exchange::own_pieces() const {
  std::vector<checkpoint::Piece> all;
  const int rank = options_.group.rank();
  for (std::size_t i = 0; residual_.defined() && i < parameters_.size(); ++i) {
    all.push_back({.name = residual_name(rank, i),
                   .sizes = parameters_[i].tensor.sizes().vec(),
                   .data = residual_of(i)});
  }
  for (const Kept& kept : kept_) {
    all.push_back({.name = Agreement::state_name(kKept + std::to_string(rank),
                                                 parameters_[kept.parameter].name),
                   .sizes = kept.values.sizes().vec(),
                   .data = kept.values});
  }
  return all;
}

void Exchange::restore(const checkpoint::Checkpoint& from) {
  const c10::NoGradGuard no_grad;
  const int ranks = options_.group.size();
  for (std::size_t i = 0; residual_.defined() && i < parameters_.size(); ++i) {
    const at::Tensor own = residual_of(i);
    own.zero_();
    for (int rank = options_.group.rank(); from.has(residual_name(rank, i)); rank += ranks) {
      own.add_(from.read(residual_name(rank, i)).view({-1}));
    }
  }
  for (const Kept& kept : kept_) {
    const std::string name = Agreement::state_name(kKept + std::to_string(options_.group.rank()),
                                                   parameters_[kept.parameter].name);
    const std::int64_t count = kept.values.numel();
    const bool is_there = from.has(name) && from.sizes(name) == std::vector<std::int64_t>{count};
    if (is_there) {
      from.read_into(name, kept.values);
    } else {
      kept.values.zero_();
    }
  }
}

}  // namespace trireme::parallel::data
