// Storage decides where a model's values, optimizer state and reduced gradients lie, and how new
// values reach the ranks that read them.
//
//   Replicated  every rank has all values and all state, and updates everything
//   Shared      one copy per host, in memory that its ranks map; each rank updates its shard
//   Sharded     every rank has all values, and the state and the update of its shard
//   Gathered    values are shards, too; a block's values are gathered while it runs (zero3)
//
// Errors:        Exhausted if there is no memory; what Group throws.
// Thread safety: the thread that runs the passes.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trireme/model/model.h"
#include "trireme/parallel/data/placement.h"
#include "trireme/parallel/data/storage/layout.h"
#include "trireme/parallel/data/storage/publishing.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/zero/gathering.h"

namespace trireme::parallel::data {

enum class StorageKind { Replicated, Shared, Sharded, Gathered };

class Storage {
 public:
  struct Options {
    BucketPlan plan;
    std::size_t state_count = 0;                     // of the optimizer
    std::optional<at::ScalarType> narrow_type{};     // of a copy of the weights that passes read
    bool is_elastic = false;                         // shared memory outlives its ranks
    bool has_whole_sums = false;                     // every rank gets the sum of all elements
    bool has_own_sums = false;                       // sums do not replace this rank's gradients
    std::shared_ptr<model::Model> model{};           // null: all values are needed at once
    std::vector<std::vector<std::size_t>> blocks{};  // by block of the model: its parameters
  };
  // `names`: of shared memory, equal on all ranks of a host: values, reduced gradients, copies,
  // then one per state.
  static std::unique_ptr<Storage> make(StorageKind kind, Options options,
                                       const std::vector<Parameter>& parameters,
                                       const Placement& placement,
                                       const std::vector<std::int64_t>& names);
  virtual ~Storage();

  StorageLayout& layout() noexcept { return layout_; }
  const StorageLayout& layout() const noexcept { return layout_; }
  bool has_copies() const noexcept { return layout_.copies.memory.defined(); }

  // Copies the parameters to shared memory, if this host has no values there yet. A collective of
  // the host; nothing of this rank has changed if it throws.
  virtual void fill(const std::vector<Parameter>& /*parameters*/, const Placement& /*where*/) {}
  // Parameters become views of this storage. `is_attached`: other ranks have used it before, and
  // its values count.
  virtual void attach(std::vector<Parameter>& parameters, const Placement& where,
                      bool is_attached) = 0;
  // The shards of this rank are those of `rank` of `ranks`.
  void cut(int rank, int ranks);
  // What this rank of a cut updates in a bucket.
  ElementRange shard(std::size_t bucket, int rank, int ranks) const;

  // Makes the new values of a bucket, or of all, available to all ranks; finish() waits for them.
  virtual void publish(std::size_t /*bucket*/, const Placement& /*where*/) {}
  virtual void publish_all(const Placement& where);
  void finish() {
    if (publishing_) publishing_->finish();
  }
  void forget() {
    if (publishing_) publishing_->forget();
  }
  // Blocks wait for their own values, so a step may begin before all have arrived.
  bool is_gate() const noexcept { return publishing_ && publishing_->is_gate(); }

  // Of Gathered; the others do nothing. `is_even`: every rank runs the same number of
  // micro-batches, so that blocks can be gathered one by one.
  void begin_step(bool is_even);
  void begin_micro_batch() {
    if (is_streamed_) gathering_->begin_micro_batch();
  }
  void end_micro_batch() {
    if (is_streamed_) gathering_->end_micro_batch();
  }
  // All values are available to this rank until the next update. A collective.
  void gather() {
    if (gathering_) gathering_->gather_all();
  }
  // Seconds that passes have waited for values, in total.
  double waited() const;

  // Writes this rank's new values to the copy that passes read, while they are in the cache.
  void write_copy(std::size_t bucket, const ElementRange& range);

 protected:
  explicit Storage(Options options) : options_(std::move(options)) {}

  // Blocks wait for the values of their buckets. Elastic jobs begin a step with all values, so that
  // no rank is in a step while another's update of the last one can still be lost.
  void make_publishing(bool can_be_gate);
  void attach_views(std::vector<Parameter>& parameters, bool is_copied);
  std::vector<std::vector<std::size_t>> buckets_of_blocks() const;

  Options options_;
  StorageLayout layout_;
  // Once attached: one of these two brings new values.
  std::shared_ptr<Publishing> publishing_;
  std::shared_ptr<zero::Gathering> gathering_;

 private:
  bool is_sharded_ = false;   // each rank updates its shard
  bool is_streamed_ = false;  // blocks are gathered one by one in this step
};

}  // namespace trireme::parallel::data
