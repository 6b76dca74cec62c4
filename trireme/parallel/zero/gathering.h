// Gathering makes a model's blocks whole only while they run: between two passes of a block every
// rank holds a slice of its values and nothing else. Zero stage 3 across hosts.
//
// A slot passes 2 n gates: blocks 0 to n-1 forward, then n-1 to 0 backward. At each of them the
// block is whole, the one after it is on its way, and all others are gone. Gates that a rank does
// not come by (a slot without samples, a block without gradients) are passed at the end of the
// slot, so that all ranks gather the same buckets in the same order.
//
// Memory:  parameters are views of storages whose bytes come and go. Whoever reads one outside a
//          slot calls gather_all() first.
// Threads: the one that runs the passes.
// Failure: what Group throws; Misuse for a block that is reached out of turn.

#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

#include <cstddef>
#include <memory>
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
    comm::Group group;               // not the one that reduces: both run side by side
    std::vector<at::Tensor> slices;  // by bucket: this rank's
    std::vector<std::vector<std::size_t>> counts;   // by bucket: of all ranks' slices
    std::vector<std::vector<std::size_t>> needs{};  // by block: the buckets that it reads
  };
  explicit Gathering(Options options);

  // All ranks' slices of a bucket, end to end. It has bytes only while it is gathered.
  const at::Tensor& whole(std::size_t bucket) const { return buckets_.at(bucket).whole; }

  // Between them, reach() gathers and drops. REQUIRES: blocks, and as many slots on every rank.
  void begin_micro_batch();
  void end_micro_batch();

  // Everything is whole until drop_all(). Collectives.
  void gather_all();
  void drop_all();

  void reach(std::size_t block, model::Pass pass) override;
  // Seconds for other ranks, so far.
  double waited() const noexcept { return waited_; }

 private:
  struct Bucket {
    at::Tensor whole;
    std::optional<comm::TensorWork> work;  // on its way
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
  std::vector<std::pair<std::size_t, at::DataPtr>> spares_;  // with their sizes
  std::size_t passed_ = 0;                                   // gates, in this slot
  bool is_in_micro_batch_ = false;
  bool is_all_whole_ = false;
  double waited_ = 0;
};

}  // namespace trireme::parallel::zero
