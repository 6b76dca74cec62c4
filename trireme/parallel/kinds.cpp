#include "trireme/parallel/kinds.h"

#include "trireme/optim/groups.h"
#include "trireme/optim/kinds.h"

namespace trireme::parallel {

void add_sync_section(config::Schema& schema) {
  schema.section(kSyncSection, "how ranks come to the same weights").fields<SyncConfig>();
  add_sync_kinds(schema);
}

void add_sync_kinds(config::Schema& schema) {
  schema.section(kSyncSection)
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
      .kind<local::HierarchicalConfig>(
          "hierarchical", "in every step inside a host, less often or in fewer bytes across")
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
  if (kind == "hierarchical") return SyncKind::Hierarchical;
  if (kind == "diloco") return SyncKind::Diloco;
  if (kind == "gossip") return SyncKind::Gossip;
  if (kind == "delayed") return SyncKind::Delayed;
  return SyncKind::Auto;
}

local::Pace pace_of(const config::Config& config) {
  if (const auto* how = config.find<local::LocalConfig>(kSyncSection)) {
    return {.steps = how->steps, .end = how->end, .slack = how->slack};
  }
  if (const auto* how = config.find<local::PostLocalConfig>(kSyncSection)) {
    return {.steps = how->steps, .end = how->end, .begin = how->begin};
  }
  if (const auto* how = config.find<local::HierarchicalConfig>(kSyncSection)) {
    return {.steps = how->steps,
            .end = how->end,
            .outer_rate = how->outer_rate,
            .outer_momentum = how->outer_momentum,
            .crossing = how->across,
            .fragments = how->fragments,
            .overlap = how->overlap,
            .slack = how->slack};
  }
  if (const auto* how = config.find<local::DilocoConfig>(kSyncSection)) {
    return {.steps = how->steps,
            .end = how->end,
            .outer_rate = how->outer_rate,
            .outer_momentum = how->outer_momentum,
            .fragments = how->fragments,
            .overlap = how->overlap,
            .slack = how->slack};
  }
  if (const auto* how = config.find<local::GossipConfig>(kSyncSection)) {
    return {.steps = how->steps, .overlap = how->overlap, .slack = how->slack};
  }
  return {};
}

Treat treatment_of(const config::Config& config) {
  const optim::Groups groups(config.get<optim::OptimConfig>(optim::kOptimSection));
  const double decay = optim::weight_decay_of(config);
  const std::optional<optim::SecondRule> second = optim::second_rule_of(config);
  return [groups, decay, second](const std::string& name, const at::Tensor& tensor) {
    const optim::Group group = groups.group_of(name, tensor.dim());
    if (second && second->is_for(name)) {
      return Treatment{.rate_factor = group.rate_factor * second->rate_factor,
                       .weight_decay = group.is_decayed ? second->weight_decay : 0,
                       .rule = 1};
    }
    return Treatment{.rate_factor = group.rate_factor,
                     .weight_decay = group.is_decayed ? decay : 0};
  };
}

}  // namespace trireme::parallel
