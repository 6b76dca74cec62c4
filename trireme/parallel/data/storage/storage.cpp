#include "trireme/parallel/data/storage/storage.h"

#include <ATen/ops/zeros.h>

#include <set>
#include <utility>

#include "trireme/parallel/data/storage/flat_memory.h"

namespace trireme::parallel::data {
namespace {

constexpr std::size_t kValues = 0, kReduced = 1, kCopies = 2, kStates = 3;  // among the names

at::ScalarType type_of(const std::vector<Parameter>& parameters) {
  return parameters.at(0).tensor.scalar_type();
}

class Replicated final : public Storage {
 public:
  Replicated(Options options, const std::vector<Parameter>& parameters, const Placement& where)
      : Storage(std::move(options)) {
    const at::ScalarType type = type_of(parameters);
    layout_.plan = options_.plan;
    layout_.values = {private_flat(where.host, options_.plan.count, type), false, {}};
    for (std::size_t i = 0; i < options_.state_count; ++i) {
      layout_.states.push_back({at::zeros({options_.plan.count}, type), false, {}});
    }
    if (options_.has_own_sums) {
      layout_.reduced = {private_flat(where.host, options_.plan.count, type), false, {}};
    }
  }

  void attach(std::vector<Parameter>& parameters, const Placement&, bool is_attached) override {
    make_publishing(false);
    attach_views(parameters, !is_attached);
  }
};

class Shared final : public Storage {
 public:
  Shared(Options options, const std::vector<Parameter>& parameters, const Placement& where,
         const std::vector<std::int64_t>& names)
      : Storage(std::move(options)) {
    const auto space = [&](std::size_t name, at::ScalarType type) -> FlatSpace {
      const int users = options_.is_elastic ? 0 : where.host.size();
      return {common_flat(where.host, static_cast<std::uint64_t>(names[name]), options_.plan.count,
                          type, users),
              false,
              {}};
    };
    const at::ScalarType type = type_of(parameters);
    layout_.plan = options_.plan;
    layout_.values = space(kValues, type);
    if (options_.narrow_type) layout_.copies = space(kCopies, *options_.narrow_type);
    for (std::size_t i = 0; i < options_.state_count; ++i) {
      layout_.states.push_back(space(kStates + i, type));
    }
    if (!options_.has_whole_sums) layout_.reduced = space(kReduced, type);
  }

  void fill(const std::vector<Parameter>& parameters, const Placement& where) override {
    for (std::size_t i = 0; where.host.rank() == 0 && i < parameters.size(); ++i) {
      const ElementRange range = layout_.plan.range_of[i];
      layout_.values.memory.narrow(0, range.begin, range.count())
          .copy_(parameters[i].tensor.detach().flatten());
    }
    if (where.host.rank() == 0 && has_copies()) {
      layout_.copies.memory.copy_(layout_.values.memory);
    }
    where.host.barrier({.label = "weights in shared memory"}).wait();
  }

  void attach(std::vector<Parameter>& parameters, const Placement&, bool) override {
    make_publishing(!options_.is_elastic);
    attach_views(parameters, false);
  }

  void publish(std::size_t bucket, const Placement& where) override {
    publishing_->add(bucket, where.host.barrier({.label = "updated"}));
  }

  // One barrier is enough.
  void publish_all(const Placement& where) override { publish(0, where); }
};

// Memory for this rank's shards, end to end.
FlatSpace compact_space(const BucketPlan& plan, const Placement& where, at::ScalarType type) {
  const CompactPlan compact(plan, where.host.rank(), where.host.size());
  return {at::zeros({compact.count}, type), true, compact.shift};
}

class Sharded : public Storage {
 public:
  Sharded(Options options, const std::vector<Parameter>& parameters, const Placement& where,
          FlatSpace values)
      : Storage(std::move(options)) {
    const at::ScalarType type = type_of(parameters);
    layout_.plan = options_.plan;
    layout_.values = std::move(values);
    for (std::size_t i = 0; i < options_.state_count; ++i) {
      layout_.states.push_back(compact_space(options_.plan, where, type));
    }
    if (!options_.has_whole_sums) layout_.reduced = compact_space(options_.plan, where, type);
  }

  void attach(std::vector<Parameter>& parameters, const Placement&, bool is_attached) override {
    make_publishing(!options_.is_elastic);
    attach_views(parameters, !is_attached);
  }

  void publish(std::size_t b, const Placement& where) override {
    const BucketPlan::Bucket& bucket = layout_.plan.buckets[b];
    publishing_->add(
        b, comm::all_gather(where.host, layout_.values.at(b, bucket.range),
                            layout_.values.at(b, layout_.own[b]),
                            bucket.slice_counts(where.host.size()), {.label = "new values"}));
  }
};

class Gathered final : public Sharded {
 public:
  using Sharded::Sharded;

  void attach(std::vector<Parameter>& parameters, const Placement& where, bool) override {
    const BucketPlan& plan = layout_.plan;
    std::vector<at::Tensor> shards;
    std::vector<std::vector<std::size_t>> counts;
    for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
      shards.push_back(layout_.values.at(b, layout_.own[b]));
      counts.push_back(plan.buckets[b].slice_counts(where.host.size()));
    }
    gathering_ =
        std::make_shared<zero::Gathering>(zero::Gathering::Options{.group = where.host.duplicate(),
                                                                   .slices = std::move(shards),
                                                                   .counts = std::move(counts),
                                                                   .needs = buckets_of_blocks()});
    for (std::size_t i = 0; i < parameters.size(); ++i) attach_one(parameters[i].tensor, i);
    if (options_.model) options_.model->set_gate(gathering_);
  }

  // Values that were gathered before an update are old.
  void publish(std::size_t, const Placement&) override {}
  void publish_all(const Placement&) override { gathering_->drop_all(); }

 private:
  void attach_one(at::Tensor& parameter, std::size_t index) {
    const BucketPlan& plan = layout_.plan;
    const std::size_t b = plan.bucket_of[index];
    const ElementRange range = plan.range_of[index];
    const ElementRange part = common(range, layout_.own[b]);
    if (part.count() > 0) {
      const at::Tensor flat = parameter.detach().flatten();
      layout_.values.at(b, part).copy_(flat.narrow(0, part.begin - range.begin, part.count()));
    }
    parameter.set_data(gathering_->whole(b)
                           .narrow(0, range.begin - plan.buckets[b].range.begin, range.count())
                           .view(parameter.sizes()));
  }
};

}  // namespace

std::unique_ptr<Storage> Storage::make(StorageKind kind, Options options,
                                       const std::vector<Parameter>& parameters,
                                       const Placement& placement,
                                       const std::vector<std::int64_t>& names) {
  const at::ScalarType type = type_of(parameters);
  std::unique_ptr<Storage> made;
  switch (kind) {
    case StorageKind::Replicated:
      made = std::make_unique<Replicated>(std::move(options), parameters, placement);
      break;
    case StorageKind::Shared:
      made = std::make_unique<Shared>(std::move(options), parameters, placement, names);
      break;
    case StorageKind::Sharded: {
      FlatSpace whole{private_flat(placement.host, options.plan.count, type), false, {}};
      made = std::make_unique<Sharded>(std::move(options), parameters, placement, std::move(whole));
      break;
    }
    case StorageKind::Gathered: {
      FlatSpace shards = compact_space(options.plan, placement, type);
      made =
          std::make_unique<Gathered>(std::move(options), parameters, placement, std::move(shards));
      break;
    }
  }
  if (made->options_.has_whole_sums) {
    made->layout_.reduced = {at::zeros({made->layout_.plan.count}, type), false, {}};
  }
  made->is_sharded_ = kind != StorageKind::Replicated;
  made->cut(placement.host.rank(), placement.host.size());
  return made;
}

Storage::~Storage() {
  if ((is_gate() || gathering_) && options_.model) options_.model->set_gate(nullptr);
}

void Storage::cut(int rank, int ranks) {
  layout_.own.clear();
  for (std::size_t b = 0; b < layout_.plan.buckets.size(); ++b) {
    layout_.own.push_back(shard(b, rank, ranks));
  }
}

ElementRange Storage::shard(std::size_t bucket, int rank, int ranks) const {
  const BucketPlan::Bucket& of = layout_.plan.buckets[bucket];
  return is_sharded_ ? of.slice(rank, ranks) : of.range;
}

void Storage::publish_all(const Placement& where) {
  for (std::size_t b = 0; b < layout_.plan.buckets.size(); ++b) publish(b, where);
}

void Storage::begin_step(bool is_even) {
  is_streamed_ = gathering_ && is_even && !options_.blocks.empty();
  if (!is_streamed_) gather();
}

double Storage::waited() const {
  if (gathering_) return gathering_->waited();
  return publishing_ ? publishing_->waited() : 0;
}

void Storage::write_copy(std::size_t bucket, const ElementRange& range) {
  if (has_copies()) layout_.copies.at(bucket, range).copy_(layout_.values.at(bucket, range));
}

void Storage::make_publishing(bool can_be_gate) {
  publishing_ = std::make_shared<Publishing>(
      layout_.plan.buckets.size(),
      can_be_gate ? buckets_of_blocks() : std::vector<std::vector<std::size_t>>{});
  if (publishing_->is_gate()) options_.model->set_gate(publishing_);
}

void Storage::attach_views(std::vector<Parameter>& parameters, bool is_copied) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor& parameter = parameters[i].tensor;
    const at::Tensor view = layout_.values.at(layout_.plan.bucket_of[i], layout_.plan.range_of[i])
                                .view(parameter.sizes());
    if (is_copied) view.copy_(parameter);
    parameter.set_data(view);
  }
}

std::vector<std::vector<std::size_t>> Storage::buckets_of_blocks() const {
  std::vector<std::vector<std::size_t>> all;
  for (const std::vector<std::size_t>& block : options_.blocks) {
    std::set<std::size_t> read;
    for (const std::size_t i : block) read.insert(layout_.plan.bucket_of[i]);
    all.emplace_back(read.begin(), read.end());
  }
  return all;
}

}  // namespace trireme::parallel::data
