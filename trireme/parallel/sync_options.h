// SyncOptions is what a synchronization strategy is made of: the parameters, the ranks, and the
// settings that strategies share. A strategy uses those that its record says it supports.
//
// Thread safety: values.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/comm/group.h"
#include "trireme/model/model.h"
#include "trireme/optim/optimizer.h"
#include "trireme/parallel/commit_result.h"
#include "trireme/parallel/local/rounds_config.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

// The strategy of a part of a job.
struct Stretch {
  std::int64_t begin = 0;  // the first step
  std::string kind = "auto";
  local::RoundSettings pace{};                // of a local-update method
  std::shared_ptr<const void> settings = {};  // of the strategy alone; null: their defaults
};

struct SyncOptions {
  std::vector<Parameter> parameters{};
  std::vector<at::Tensor> buffers{};
  std::shared_ptr<const optim::Optimizer> optimizer{};
  comm::Group group = comm::Group::solo();          // one rank of each data-parallel replica
  comm::Group replica_group = comm::Group::solo();  // the ranks of this rank's replica
  // The ranks of all replicas, which commit steps together; empty: each replica is one rank.
  std::optional<comm::Group> commit_group{};
  CommitFlags flags{};  // of the parameters; by default all ranks have the same ones
  std::shared_ptr<model::Model> model{};  // zero3 gathers its blocks one by one
  std::vector<Stretch> stretches{{}};     // ascending by their first steps, from 0
  local::RoundSettings pace{};     // make_gradient_sync() sets it to that of the stretch it makes
  bool is_sliced_in_host = false;  // zero1-3: shards within a host, replicas across hosts
  std::int64_t bucket_size = 4 << 20;
  codec::CodecConfig codec{};
  // Replaces the codec that `codec` names; warm-up and error feedback still follow `codec`.
  std::shared_ptr<const codec::Codec> own_codec{};
  std::uint64_t seed = 0;                       // of the random numbers of codecs and gossip
  bool is_ordered = false;                      // sums follow a fixed tree over logical ranks
  bool is_loss_scaled = false;                  // by a factor that changes from step to step
  std::optional<at::ScalarType> narrow_type{};  // in which passes read weights
  bool can_leave_out = false;                   // steps may be committed without stragglers
  bool can_drop = false;                        // the job may go on after a step that is dropped
  bool is_recomputed = false;                   // a parameter's gradient may come in several parts
  // Ranks may be lost and join. The strategy then implements ElasticSync, and its ranks meet in
  // survive() and regroup(); the group is not used before.
  bool is_elastic = false;
  bool is_spread = false;  // elastic: on several hosts
  // Elastic: gradients of finished micro-batches stay until the step is committed, so that only
  // the micro-batches of failed ranks run again.
  bool keeps_gradients = true;
  Faults* faults = nullptr;

  bool has_codec() const noexcept { return own_codec || codec.kind != codec::CodecKind::None; }
};

}  // namespace trireme::parallel
