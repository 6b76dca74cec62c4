// The ways to agree that a recipe can name under [sync], and the one that fits a job.
//
// auto: alone where there is one rank; one shared copy a host where hosts have as many ranks each,
// and more than one; all_reduce elsewhere.

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
// The kinds with their own settings alone.
void add_sync_kinds(config::Schema& schema);
// sync.kind, whatever comes later.
SyncKind sync_kind_of(const config::Config& config);
// Its, where it agrees less often than every step; whatever of another.
local::Pace pace_of(const config::Config& config);

// By name and shape, as [optim] says.
Treat treatment_of(const config::Config& config);

struct SyncOptions {
  std::vector<Parameter> parameters;
  std::vector<at::Tensor> buffers{};
  std::shared_ptr<const optim::Optimizer> optimizer;
  comm::Group group = comm::Group::solo();
  std::shared_ptr<model::Model> model{};  // zero3 gathers its blocks one by one
  SyncKind kind = SyncKind::Auto;         // at first
  bool is_sliced_in_host = false;  // zero kinds: among the ranks of a host, replicas across hosts
  std::int64_t bucket_size = 4 << 20;
  local::Pace pace{};
  std::vector<Stretch> later{};  // other kinds, from later steps on
  codec::CodecConfig codec{};
  // In place of one that `codec` names; warm-up and error feedback are as it says.
  std::shared_ptr<const codec::Codec> own_codec{};
  std::uint64_t seed = 0;                       // of what a codec or gossip draws
  bool is_ordered = false;                      // sums over slots follow the fixed tree
  std::optional<at::ScalarType> narrow_type{};  // in which passes read weights
  bool can_leave_out = false;                   // steps may go on without slow ranks
  bool is_recomputed = false;                   // a parameter's gradient may come in several parts
  // Ranks may come and go. The agreement is then ElasticSync, and nobody meets anybody before
  // survive() and regroup(); the group does not matter until then.
  bool is_elastic = false;
  bool is_spread = false;  // and on several hosts
  bool keeps_gradients =
      true;  // of slots, until the step is over: only those of the dead run again
  Faults* faults = nullptr;
};

// Throws InvalidInput where the ranks cannot agree in the way that is named.
std::shared_ptr<GradientSync> make_gradient_sync(SyncOptions options);

}  // namespace trireme::parallel
