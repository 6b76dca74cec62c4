#include "trireme/parallel/kinds.h"

#include <optional>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/codec/kinds.h"
#include "trireme/mesh/mesh.h"
#include "trireme/optim/groups.h"
#include "trireme/optim/kinds.h"
#include "trireme/parallel/apart.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/local/delayed.h"
#include "trireme/parallel/local/rounds.h"
#include "trireme/parallel/sameness.h"
#include "trireme/parallel/solo.h"

namespace trireme::parallel {
namespace {

// Whether replicas differ between two agreements, or apply gradients late.
bool is_less_often(SyncKind kind) {
  return kind == SyncKind::Local || kind == SyncKind::PostLocal || kind == SyncKind::Diloco ||
         kind == SyncKind::Gossip || kind == SyncKind::Delayed;
}

bool has_codec(const AgreementOptions& options) {
  return options.codec.kind != codec::CodecKind::None;
}

// Throws InvalidInput where what is to be encoded cannot be.
void check_codec(const AgreementOptions& options) {
  if (!has_codec(options)) return;
  const std::string setting =
      "sync.codec.kind = \"" + std::string(codec::name_of(options.codec.kind)) + "\" ";
  const SyncKind kind = options.kind;
  const bool is_sent = kind == SyncKind::Auto || kind == SyncKind::AllReduce ||
                       (is_less_often(kind) && kind != SyncKind::Gossip);
  if (!is_sent) {
    throw Error(ErrorCode::InvalidInput,
                setting +
                    "works with sync.kind all_reduce, local, post_local, diloco and delayed: "
                    "take one of them, or sync.codec.kind=none");
  }
  if (options.is_lasting) {
    throw Error(ErrorCode::InvalidInput,
                setting +
                    "does not work where workers come and go yet: take sync.codec.kind=none, "
                    "or elastic.enabled=false");
  }
  if (options.is_ordered) {
    throw Error(ErrorCode::InvalidInput,
                setting +
                    "loses something on each rank, so the bits depend on their number, which "
                    "train.virtual_ranks promises that they do not: take one of the two");
  }
  for (const Parameter& parameter : options.parameters) {
    if (parameter.tensor.scalar_type() == at::kFloat) continue;
    throw Error(ErrorCode::InvalidInput,
                setting + "encodes float32, and " + parameter.name +
                    " is of another type: convert the model, or take sync.codec.kind=none");
  }
}

// Throws InvalidInput where a kind that agrees less often cannot do what is asked for.
void check_less_often(const AgreementOptions& options) {
  if (!is_less_often(options.kind)) return;
  if (options.is_lasting) {
    throw Error(ErrorCode::InvalidInput,
                "this sync.kind does not work where workers come and go yet: take all_reduce or "
                "shared, or elastic.enabled = false");
  }
  if (options.is_ordered) {
    throw Error(ErrorCode::InvalidInput,
                "with this sync.kind the bits depend on the number of ranks, which "
                "train.virtual_ranks promises that they do not: take train.virtual_ranks=0, or "
                "all_reduce or shared");
  }
}

// One shared copy where it can be: least memory, least to send. What is shared is not encoded.
// `hosts` is how the ranks lie on them, where all hosts have as many.
SyncKind resolved(SyncKind kind, const std::optional<mesh::Mesh>& hosts) {
  const bool is_alone = hosts && hosts->size("inside") == 1;
  if (kind == SyncKind::Auto) kind = hosts ? SyncKind::Shared : SyncKind::AllReduce;
  if (kind == SyncKind::Shared && !hosts) {
    throw Error(ErrorCode::InvalidInput,
                "sync.kind = \"shared\" needs as many ranks on every host: take all_reduce or "
                "zero1");
  }
  // The one copy of a host with one rank is that rank's own.
  return kind == SyncKind::Shared && is_alone ? SyncKind::AllReduce : kind;
}

// Whatever can be is shared: it stays when a rank dies.
SyncKind resolved_lasting(SyncKind kind) {
  if (kind == SyncKind::None) {
    throw Error(ErrorCode::InvalidInput,
                "sync.kind = \"none\" has no agreement that could outlive a rank: take another, or "
                "elastic.enabled = false");
  }
  return kind == SyncKind::Auto ? SyncKind::Shared : kind;
}

// Backward may still read a weight whose gradient it has finished, where a forward pass used it
// behind autograd's back; a block promises not to.
bool can_update_early(const AgreementOptions& options) {
  return !options.is_recomputed && options.model && !options.model->blocks().empty();
}

std::shared_ptr<Solo> make_solo(AgreementOptions& options) {
  return std::make_shared<Solo>(Solo::Options{.parameters = std::move(options.parameters),
                                              .optimizer = std::move(options.optimizer),
                                              .can_update_early = can_update_early(options),
                                              .is_ordered = options.is_ordered});
}

std::shared_ptr<Agreement> make_less_often(AgreementOptions& options) {
  expect_one_type(options.parameters);
  local::FlatModel::Options flat{.parameters = options.parameters,
                                 .group = options.group,
                                 .bucket_size = options.bucket_size,
                                 .codec = codec::make_codec(options.codec),
                                 .codec_begin = options.codec.warmup,
                                 .has_error_feedback = options.codec.has_error_feedback,
                                 .seed = options.seed};
  if (options.kind == SyncKind::Delayed) {
    return std::make_shared<local::Delayed>(
        local::Delayed::Options{.own = {.parameters = std::move(options.parameters),
                                        .optimizer = std::move(options.optimizer)},
                                .buffers = std::move(options.buffers),
                                .flat = std::move(flat)});
  }
  const local::Gathering gathering = options.kind == SyncKind::Diloco   ? local::Gathering::Outer
                                     : options.kind == SyncKind::Gossip ? local::Gathering::Pair
                                                                        : local::Gathering::Average;
  std::vector<at::Tensor> buffers = std::move(options.buffers);
  return std::make_shared<local::Rounds>(local::Rounds::Options{.own = make_solo(options),
                                                                .buffers = std::move(buffers),
                                                                .flat = std::move(flat),
                                                                .gathering = gathering,
                                                                .pace = options.pace});
}

}  // namespace

void add_sync_section(config::Schema& schema) {
  schema.section(kSyncSection, "how ranks come to the same weights")
      .fields<SyncConfig>()
      .kind<SyncKindConfig<SyncKind::Auto>>("auto",
                                            "shared where ranks share hosts, else all_reduce")
      .kind<SyncKindConfig<SyncKind::AllReduce>>("all_reduce", "every rank holds everything")
      .kind<SyncKindConfig<SyncKind::Shared>>(
          "shared", "one copy of weights and optimizer state a host, each rank updates a part")
      .kind<SyncKindConfig<SyncKind::Zero1>>("zero1", "optimizer state in slices, one a rank")
      .kind<SyncKindConfig<SyncKind::Zero2>>("zero2", "optimizer state and gradients in slices")
      .kind<SyncKindConfig<SyncKind::Zero3>>(
          "zero3", "optimizer state, gradients and weights in slices; a block is whole as it runs")
      .kind<SyncKindConfig<SyncKind::None>>("none", "ranks never speak; averaged once at the end")
      .kind<local::LocalConfig>("local", "replicas, averaged every so many steps")
      .kind<local::PostLocalConfig>("post_local", "all_reduce at first, then local")
      .kind<local::DilocoConfig>("diloco",
                                 "replicas; every so many steps an outer one with momentum")
      .kind<local::GossipConfig>("gossip", "replicas, averaged in pairs that change")
      .kind<SyncKindConfig<SyncKind::Delayed>>(
          "delayed", "gradients are applied one step late, and travel meanwhile");
}

SyncKind sync_kind_of(const config::Config& config) {
  const std::string& kind = config.kind(kSyncSection);
  if (kind == "all_reduce") return SyncKind::AllReduce;
  if (kind == "shared") return SyncKind::Shared;
  if (kind == "zero1") return SyncKind::Zero1;
  if (kind == "zero2") return SyncKind::Zero2;
  if (kind == "zero3") return SyncKind::Zero3;
  if (kind == "none") return SyncKind::None;
  if (kind == "local") return SyncKind::Local;
  if (kind == "post_local") return SyncKind::PostLocal;
  if (kind == "diloco") return SyncKind::Diloco;
  if (kind == "gossip") return SyncKind::Gossip;
  if (kind == "delayed") return SyncKind::Delayed;
  return SyncKind::Auto;
}

local::Pace pace_of(const config::Config& config) {
  if (const auto* how = config.find<local::LocalConfig>(kSyncSection)) {
    return {.steps = how->steps, .end = how->end};
  }
  if (const auto* how = config.find<local::PostLocalConfig>(kSyncSection)) {
    return {.steps = how->steps, .end = how->end, .begin = how->begin};
  }
  if (const auto* how = config.find<local::DilocoConfig>(kSyncSection)) {
    return {.steps = how->steps,
            .end = how->end,
            .outer_rate = how->outer_rate,
            .outer_momentum = how->outer_momentum};
  }
  if (const auto* how = config.find<local::GossipConfig>(kSyncSection)) {
    return {.steps = how->steps};
  }
  return {};
}

Treat treatment_of(const config::Config& config) {
  const optim::Groups groups(config.get<optim::OptimConfig>(optim::kOptimSection));
  const double decay = optim::weight_decay_of(config);
  return [groups, decay](const std::string& name, const at::Tensor& tensor) {
    const optim::Group group = groups.group_of(name, tensor.dim());
    return Treatment{.rate_factor = group.rate_factor,
                     .weight_decay = group.is_decayed ? decay : 0};
  };
}

std::shared_ptr<Agreement> make_agreement(AgreementOptions options) {
  const bool is_lasting = options.is_lasting;
  if (options.group.size() == 1 && !is_lasting) return make_solo(options);
  check_codec(options);
  check_less_often(options);
  if (is_less_often(options.kind)) return make_less_often(options);
  if (has_codec(options) && options.kind == SyncKind::Auto) options.kind = SyncKind::AllReduce;
  const std::optional<mesh::Mesh> hosts =
      is_lasting ? std::nullopt : mesh::Mesh::of_hosts(options.group);
  const SyncKind kind = is_lasting ? resolved_lasting(options.kind) : resolved(options.kind, hosts);
  if (kind == SyncKind::None) {
    const comm::Group group = options.group;
    std::vector<at::Tensor> buffers = std::move(options.buffers);
    return std::make_shared<Apart>(make_solo(options), std::move(buffers), group);
  }
  data::DataParallel::Options how{.parameters = std::move(options.parameters),
                                  .buffers = std::move(options.buffers),
                                  .optimizer = std::move(options.optimizer),
                                  .group = options.group,
                                  .model = std::move(options.model),
                                  .kind = kind,
                                  .bucket_size = options.bucket_size,
                                  .codec = codec::make_codec(options.codec),
                                  .codec_begin = options.codec.warmup,
                                  .has_error_feedback = options.codec.has_error_feedback,
                                  .seed = options.seed,
                                  .is_ordered = options.is_ordered,
                                  .is_in_parts = options.is_recomputed,
                                  .narrow_type = options.narrow_type,
                                  .is_lasting = is_lasting,
                                  .is_spread = options.is_spread,
                                  .faults = options.faults};
  const bool is_sliced = kind != SyncKind::AllReduce && kind != SyncKind::Shared;
  const bool is_in_host = kind == SyncKind::Shared || (is_sliced && options.is_sliced_in_host);
  if (hosts && hosts->size("inside") > 1 && is_in_host) {
    how.inside = hosts->group("inside");
    how.across = hosts->group("across");
  }
  return std::make_shared<data::DataParallel>(std::move(how));
}

}  // namespace trireme::parallel
