// The section [sync] of a recipe, and make_gradient_sync(), which makes the strategy that it names.
//
// sync.kind = "auto" is one copy per host, shared by its ranks, if every host has the same number
// of ranks and more than one; otherwise it is all_reduce. A job of one rank synchronizes nothing.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/base/fault.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/comm/group.h"
#include "trireme/model/model.h"
#include "trireme/optim/optimizer.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/local/rounds_config.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/sync_config.h"
#include "trireme/parallel/sync_schedule.h"

namespace trireme::parallel {

inline constexpr const char* kSyncSection = "sync";

void add_sync_section(config::Schema& schema);
// Only the strategies with their own settings, without the common ones.
void add_sync_kinds(config::Schema& schema);
// sync.kind; sync.schedule may replace it later.
SyncKind sync_kind_of(const config::Config& config);
// The settings of a local-update strategy; defaults for other strategies.
local::Pace pace_of(const config::Config& config);

// Learning rate, weight decay and rule of a parameter by its name and shape, as in [optim].
Treat treatment_of(const config::Config& config);

struct SyncOptions {
  std::vector<Parameter> parameters;
  std::vector<at::Tensor> buffers{};
  std::shared_ptr<const optim::Optimizer> optimizer;
  comm::Group group = comm::Group::solo();
  std::shared_ptr<model::Model> model{};  // zero3 gathers its blocks one by one
  SyncKind kind = SyncKind::Auto;         // until the first entry of `later`
  bool is_sliced_in_host = false;         // zero1-3: shards within a host, replicas across hosts
  std::int64_t bucket_size = 4 << 20;
  local::Pace pace{};
  std::vector<Stretch> later{};  // strategies that follow, with their first steps
  codec::CodecConfig codec{};
  // Replaces the codec that `codec` names; warm-up and error feedback still follow `codec`.
  std::shared_ptr<const codec::Codec> own_codec{};
  std::uint64_t seed = 0;                       // of the random numbers of codecs and gossip
  bool is_ordered = false;                      // sums follow a fixed tree over logical ranks
  std::optional<at::ScalarType> narrow_type{};  // in which passes read weights
  bool can_leave_out = false;                   // steps may be committed without stragglers
  bool is_recomputed = false;                   // a parameter's gradient may come in several parts
  // Ranks may be lost and join. The strategy then implements ElasticSync, and its ranks meet in
  // survive() and regroup(); the group is not used before.
  bool is_elastic = false;
  bool is_spread = false;  // elastic: on several hosts
  // Elastic: gradients of finished micro-batches stay until the step is committed, so that only
  // the micro-batches of failed ranks run again.
  bool keeps_gradients = true;
  Faults* faults = nullptr;
};

// Throws InvalidInput if the settings cannot be combined.
std::shared_ptr<GradientSync> make_gradient_sync(SyncOptions options);

}  // namespace trireme::parallel
