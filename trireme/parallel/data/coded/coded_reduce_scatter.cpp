#include "trireme/parallel/data/coded/coded_reduce_scatter.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::parallel::data {
namespace {

std::vector<std::size_t> counts_of(const std::vector<std::int64_t>& sizes) {
  return {sizes.begin(), sizes.end()};
}

}  // namespace

CodedReduceScatter::CodedReduceScatter(Options options, const BucketPlan& plan,
                                       std::vector<Parameter> parameters)
    : options_(std::move(options)),
      bytes_(comm::Group::solo()),
      plan_(plan),
      parameters_(std::move(parameters)),
      feedback_({.codec = options_.codec,
                 .contributor = {.rank = options_.group.rank(), .count = options_.group.size()},
                 .has_error_feedback = options_.has_error_feedback,
                 .is_undoable = options_.is_undoable},
                plan, parameters_),
      passages_(plan.buckets.size()) {
  regroup({.all = options_.group});
}

CodedReduceScatter::Slice CodedReduceScatter::slice_of(const BucketPlan::Bucket& bucket,
                                                       int rank) const {
  Slice slice{.range = bucket.slice(rank, options_.group.size()), .parts = {}, .wholes = {}};
  for (const BucketPlan::Entry& entry : bucket.entries) {
    const ElementRange part = common(entry.range, slice.range);
    if (part.count() <= 0) continue;
    const at::Tensor& tensor = parameters_[entry.parameter].tensor;
    const bool is_whole = part == entry.range;
    const std::int64_t begin = part.begin - slice.range.begin;
    const auto count = static_cast<std::size_t>(part.count());
    slice.parts.push_back(is_whole ? part_of(tensor, begin)
                                   : codec::BucketPart{.begin = static_cast<std::size_t>(begin),
                                                       .count = count,
                                                       .columns = count});
    slice.wholes.push_back(is_whole ? std::optional(entry.parameter) : std::nullopt);
  }
  slice.size_max =
      options_.codec->size_max(static_cast<std::size_t>(slice.range.count()), slice.parts);
  return slice;
}

void CodedReduceScatter::regroup(const Members& members) {
  forget();
  const comm::Group& group = members.all;
  options_.group = group;
  feedback_.regroup({.rank = group.rank(), .count = group.size()});
  bytes_ = options_.codec->is_fixed_size() ? group : group.duplicate();
  for (std::size_t b = 0; b < passages_.size(); ++b) {
    Passage& passage = passages_[b];
    passage.slices.clear();
    std::size_t size = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
      passage.slices.push_back(slice_of(plan_.buckets[b], rank));
      if (rank != group.rank()) size += passage.slices.back().size_max;
    }
    passage.sent.resize(size);
    passage.sizes_sent.resize(passage.slices.size());
    passage.sizes_received.resize(passage.slices.size());
  }
}

void CodedReduceScatter::forget() {
  for (Passage& passage : passages_) {
    passage.telling.reset();
    passage.moving.reset();
    passage.out.reset();
  }
  launched_ = moved_ = 0;
}

void CodedReduceScatter::begin(std::int64_t step) {
  forget();
  step_ = step;
  feedback_.begin(step);
  traffic_ = {};
}

// This rank's own shard is neither encoded nor sent.
void CodedReduceScatter::launch(std::size_t bucket, const at::Tensor& values,
                                const at::Tensor& out) {
  TRIREME_CHECK_EQ(bucket, launched_, "buckets must be launched in ascending order");
  Passage& passage = passages_[bucket];
  passage.out = out;
  const std::span<const float> all = floats_of(values);
  std::size_t size = 0;
  for (std::size_t rank = 0; rank < passage.slices.size(); ++rank) {
    const ElementRange range = passage.slices[rank].range;
    const std::span<const float> some =
        all.subspan(static_cast<std::size_t>(range.begin - plan_.buckets[bucket].range.begin),
                    static_cast<std::size_t>(range.count()));
    passage.sizes_sent[rank] = 0;
    if (rank == self()) {
      keep(bucket, some);
      continue;
    }
    const std::size_t own = encode(bucket, rank, some, std::span(passage.sent).subspan(size));
    passage.sizes_sent[rank] = static_cast<std::int64_t>(own);
    size += own;
    traffic_.plain += static_cast<std::int64_t>(some.size_bytes());
  }
  traffic_.sent += static_cast<std::int64_t>(size);
  if (options_.codec->is_fixed_size()) {
    const auto each = static_cast<std::int64_t>(passage.slices[self()].size_max);
    passage.sizes_received.assign(passage.sizes_received.size(), each);
    passage.sizes_received[self()] = 0;
  } else {
    passage.telling = options_.group.all_to_all(
        {passage.sizes_received.data(), passage.sizes_received.size(), comm::DType::Int64},
        {passage.sizes_sent.data(), passage.sizes_sent.size(), comm::DType::Int64},
        {.label = "sizes of " + std::to_string(bucket)});
  }
  ++launched_;
  advance();
}

// Advances buckets as far as possible without waiting, in the same order on every rank.
void CodedReduceScatter::advance() {
  const auto is_over = [](std::optional<comm::Work>& work) { return !work || work->is_done(); };
  while (moved_ < launched_ && is_over(passages_[moved_].telling)) start_moving(moved_++);
}

std::size_t CodedReduceScatter::encode(std::size_t bucket, std::size_t rank,
                                       std::span<const float> values, std::span<std::byte> out) {
  Slice& slice = passages_[bucket].slices[rank];
  const auto ranks = static_cast<std::uint32_t>(options_.group.size());
  const codec::Draw draw{.seed = options_.seed,
                         .stream = static_cast<std::uint64_t>(step_) << 20 | bucket,
                         .rank = static_cast<std::uint32_t>(self() * ranks + rank)};
  for (std::size_t i = 0; i < slice.parts.size(); ++i) {
    if (slice.wholes[i]) slice.parts[i].kept = feedback_.open_kept(*slice.wholes[i]);
  }
  if (!options_.has_error_feedback) return options_.codec->encode(values, slice.parts, draw, out);
  return options_.codec->encode_fed(values, feedback_.open(slice.range), slice.parts, draw, out);
}

// Adds the residual of this rank's own shard to its values; no residual remains.
void CodedReduceScatter::keep(std::size_t bucket, std::span<const float> values) {
  Passage& passage = passages_[bucket];
  passage.own.assign(values.begin(), values.end());
  const std::span<float> residual = feedback_.open(passage.slices[self()].range);
  for (std::size_t i = 0; i < residual.size(); ++i) {
    passage.own[i] += residual[i];
    residual[i] = 0;
  }
}

// Waits for the sizes of the shards that other ranks send.
void CodedReduceScatter::start_moving(std::size_t bucket) {
  Passage& passage = passages_[bucket];
  if (passage.telling) passage.telling->wait();
  passage.telling.reset();
  const auto most = static_cast<std::int64_t>(passage.slices[self()].size_max);
  for (const std::int64_t size : passage.sizes_received) {
    if (size >= 0 && size <= most) continue;
    throw Error(ErrorCode::Corrupt, "an encoded shard has " + std::to_string(size) +
                                        " bytes; the maximum is " + std::to_string(most));
  }
  const std::vector<std::size_t> sent = counts_of(passage.sizes_sent);
  const std::vector<std::size_t> received = counts_of(passage.sizes_received);
  const std::size_t size_sent = std::accumulate(sent.begin(), sent.end(), std::size_t{0});
  const std::size_t size_received =
      std::accumulate(received.begin(), received.end(), std::size_t{0});
  if (passage.received.size() < size_received) passage.received.resize(size_received);
  passage.moving = bytes_.all_to_all({passage.received.data(), size_received, comm::DType::UInt8},
                                     received, {passage.sent.data(), size_sent, comm::DType::UInt8},
                                     sent, {.label = "bucket " + std::to_string(bucket)});
}

bool CodedReduceScatter::is_done(std::size_t bucket) {
  advance();
  return bucket < moved_ && passages_[bucket].moving->is_done();
}

void CodedReduceScatter::finish(std::size_t bucket) {
  while (moved_ <= bucket) start_moving(moved_++);
  Passage& passage = passages_[bucket];
  passage.moving->wait();
  passage.moving.reset();
  passage.out.zero_();
  const std::span<float> sum = floats_of(passage.out);
  const std::byte* at = passage.received.data();
  for (std::size_t rank = 0; rank < passage.slices.size(); ++rank) {
    if (rank == self()) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += passage.own[i];
      continue;
    }
    const auto size = static_cast<std::size_t>(passage.sizes_received[rank]);
    options_.codec->add({at, size}, passage.slices[self()].parts, sum);
    at += size;
  }
  passage.out.reset();
}

}  // namespace trireme::parallel::data
