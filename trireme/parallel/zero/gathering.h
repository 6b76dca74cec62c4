// Gathering gathers the values of a model's blocks only while they run; otherwise every rank holds
// just its shard of them. This is ZeRO stage 3.
//
// A micro-batch passes 2 n gates: blocks 0 to n-1 forward, then n-1 to 0 backward. At each gate the
// values of the block are complete, those of the next block are in flight, and all others are
// freed. Gates that a rank does not reach (a micro-batch without samples, a block without
// gradients) are passed at the end of the micro-batch, so that all ranks gather the same buckets in
// the same order.
//
// Memory:        parameters are views of storages that have memory only while they are gathered.
//                Call gather_all() before a parameter is read outside a micro-batch.
// Errors:        what Group throws; Misuse for a block that runs out of order.
// Thread safety: the thread that runs the passes.

#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/model/gate.h"

namespace trireme::parallel::zero {

class Gathering final : public model::Gate {
 public:
  struct Options {
    comm::Group group;                              // not the one that reduces gradients
    std::vector<at::Tensor> slices;                 // by bucket: this rank's shard
    std::vector<std::vector<std::size_t>> counts;   // by bucket: the sizes of all ranks' shards
    std::vector<std::vector<std::size_t>> needs{};  // by block: the buckets that it reads
  };
  explicit Gathering(Options options);

  // All ranks' shards of a bucket, in the order of ranks. It has memory only while it is gathered.
  const at::Tensor& whole(std::size_t bucket) const { return buckets_.at(bucket).whole; }

  // Between these two calls, reach() gathers and frees buckets. REQUIRES: a model with blocks, and
  // the same number of micro-batches on every rank.
  void begin_micro_batch();
  void end_micro_batch();

  // gather_all() makes all values available until drop_all(). Both are collectives.
  void gather_all();
  void drop_all();

  void reach(std::size_t block, model::PassDirection pass) override;
  // Seconds that passes have waited for other ranks, in total.
  double waited() const noexcept { return waited_; }

 private:
  struct Bucket {
    at::Tensor whole;
    std::optional<comm::TensorWork> work;  // in flight
    bool has_bytes = false;
  };

  std::size_t gates() const noexcept { return 2 * options_.needs.size(); }
  const std::vector<std::size_t>& needs_at(std::size_t gate) const;
  void pass(std::size_t gate);
  void start(std::size_t bucket);
  void finish(std::size_t bucket);
  void drop(std::size_t bucket);

  Options options_;
  std::vector<Bucket> buckets_;
  std::vector<std::pair<std::size_t, at::DataPtr>> spares_;  // memory for reuse, with its size
  std::size_t passed_ = 0;                                   // gates, in this micro-batch
  bool is_in_micro_batch_ = false;
  bool is_all_whole_ = false;
  double waited_ = 0;
};

}  // namespace trireme::parallel::zero
