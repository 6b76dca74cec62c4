#include "trireme/parallel/kinds.h"

#include "trireme/optim/groups.h"
#include "trireme/optim/kinds.h"
#include "trireme/parallel/strategies.h"

namespace trireme::parallel {

namespace {

// The settings that only one strategy has.
template <class Config>
void add_kind(config::Section& section, SyncKind kind) {
  const Strategy& strategy = strategy_of(kind);
  section.kind<Config>(strategy.name, strategy.summary);
}

template <SyncKind kKind>
void add_kind(config::Section& section) {
  add_kind<SyncKindConfig<kKind>>(section, kKind);
}

}  // namespace

void add_sync_section(config::Schema& schema) {
  schema.section(kSyncSection, "how ranks arrive at the same weights").fields<SyncConfig>();
  add_sync_kinds(schema);
}

void add_sync_kinds(config::Schema& schema) {
  auto&& section = schema.section(kSyncSection);
  add_kind<SyncKind::Auto>(section);
  add_kind<SyncKind::AllReduce>(section);
  add_kind<SyncKind::Shared>(section);
  add_kind<SyncKind::Zero1>(section);
  add_kind<SyncKind::Zero2>(section);
  add_kind<SyncKind::Zero3>(section);
  add_kind<SyncKind::None>(section);
  add_kind<local::LocalConfig>(section, SyncKind::Local);
  add_kind<local::PostLocalConfig>(section, SyncKind::PostLocal);
  add_kind<local::HierarchicalConfig>(section, SyncKind::Hierarchical);
  add_kind<local::DilocoConfig>(section, SyncKind::Diloco);
  add_kind<local::GossipConfig>(section, SyncKind::Gossip);
  add_kind<SyncKind::Delayed>(section);
}

SyncKind sync_kind_of(const config::Config& config) {
  return strategy_named(config.kind(kSyncSection)).kind;
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
            .outer_lr = how->outer_lr,
            .outer_momentum = how->outer_momentum,
            .crossing = how->across,
            .fragments = how->fragments,
            .overlap = how->overlap,
            .slack = how->slack};
  }
  if (const auto* how = config.find<local::DilocoConfig>(kSyncSection)) {
    return {.steps = how->steps,
            .end = how->end,
            .outer_lr = how->outer_lr,
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
