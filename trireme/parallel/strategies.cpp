#include "trireme/parallel/strategies.h"

#include <algorithm>
#include <array>

#include "trireme/base/error.h"

namespace trireme::parallel {
namespace {

constexpr Capabilities kReplicated{.has_codec = true,
                                   .is_elastic = true,
                                   .has_logical_ranks = true,
                                   .can_drop_stragglers = true,
                                   .commits_every_step = true};
constexpr Capabilities kSharded{.has_codec = true,
                                .is_elastic = true,
                                .has_logical_ranks = true,
                                .commits_every_step = true,
                                .has_shards = true};
constexpr Capabilities kShared{.has_codec = true,
                               .is_elastic = true,
                               .has_logical_ranks = true,
                               .commits_every_step = true,
                               .has_shards = true,
                               .needs_equal_hosts = true};
constexpr Capabilities kLocal{.has_codec = true, .is_elastic = true, .has_replicas = true};

constexpr std::array kStrategies{
    Strategy{SyncKind::Auto, "auto", "shared where ranks share hosts, else all_reduce",
             kReplicated},
    Strategy{SyncKind::AllReduce, "all_reduce", "every rank holds the whole model, as in DDP",
             kReplicated},
    Strategy{SyncKind::Shared, "shared",
             "one copy of weights and optimizer state per host; each rank updates a shard",
             kShared},
    Strategy{SyncKind::Zero1, "zero1", "optimizer state is sharded over ranks", kSharded},
    Strategy{SyncKind::Zero2, "zero2", "optimizer state and gradients are sharded", kSharded},
    Strategy{
        SyncKind::Zero3, "zero3",
        "optimizer state, gradients and weights are sharded, as in FSDP; a block's weights are "
        "gathered while it runs",
        kSharded},
    Strategy{SyncKind::None,
             "none",
             "ranks train on their own and are averaged once, at the end",
             {.has_replicas = true}},
    Strategy{SyncKind::Local, "local", "Local SGD: replicas are averaged every few steps", kLocal},
    Strategy{SyncKind::PostLocal, "post_local", "all_reduce at first, then local", kLocal},
    Strategy{
        SyncKind::Hierarchical,
        "hierarchical",
        "every step within a host; across hosts less often, or gradients through a codec",
        {.has_codec = true, .is_elastic = true, .has_replicas = true, .needs_equal_hosts = true}},
    Strategy{SyncKind::Diloco, "diloco",
             "DiLoCo: every few steps, an outer optimizer with momentum updates all replicas",
             kLocal},
    Strategy{SyncKind::Gossip,
             "gossip",
             "replicas are averaged in pairs that change",
             {.is_elastic = true, .has_replicas = true}},
    Strategy{SyncKind::Delayed,
             "delayed",
             "gradients are applied one step late, and travel during the next step",
             {.has_codec = true, .is_elastic = true}},
};

// A setting that a strategy must support.
struct Need {
  bool SyncNeeds::* is_needed;
  bool Capabilities::* is_supported;
  const char* setting;  // as a user writes it
  const char* remedy;   // how to do without it
};
constexpr std::array kNeeds{
    Need{&SyncNeeds::is_coded, &Capabilities::has_codec, "a codec (sync.codec)",
         "sync.codec.kind=none"},
    Need{&SyncNeeds::is_elastic, &Capabilities::is_elastic, "elastic jobs (--elastic)",
         "elastic.enabled=false"},
    Need{&SyncNeeds::has_logical_ranks, &Capabilities::has_logical_ranks,
         "train.logical_ranks (bitwise equal results for every world size)",
         "train.logical_ranks=0"},
    Need{&SyncNeeds::drops_stragglers, &Capabilities::can_drop_stragglers,
         "balance.drop_stragglers", "balance.drop_stragglers=0"},
};

// Two settings that contradict each other with every strategy.
struct Conflict {
  bool SyncNeeds::* one;
  bool SyncNeeds::* other;
  const char* why;
};
constexpr std::array kConflicts{
    Conflict{&SyncNeeds::is_coded, &SyncNeeds::has_logical_ranks,
             "lossy codecs are not bitwise reproducible across world sizes, so sync.codec cannot "
             "be combined with train.logical_ranks; remove one of them"},
    Conflict{
        &SyncNeeds::drops_stragglers, &SyncNeeds::has_logical_ranks,
        "balance.drop_stragglers leaves out micro-batches that train.logical_ranks has to sum; "
        "remove one of them"},
    Conflict{&SyncNeeds::drops_stragglers, &SyncNeeds::is_elastic,
             "balance.drop_stragglers is not supported in elastic jobs; use "
             "balance.drop_stragglers=0 or "
             "elastic.enabled=false"},
};

bool supports(const Strategy& strategy, const SyncNeeds& needs) {
  return std::all_of(kNeeds.begin(), kNeeds.end(), [&](const Need& need) {
    return !(needs.*need.is_needed) || strategy.can.*need.is_supported;
  });
}

std::string names_that_support(const SyncNeeds& needs) {
  std::string names;
  for (const Strategy& strategy : kStrategies) {
    if (strategy.kind == SyncKind::Auto || !supports(strategy, needs)) continue;
    names += (names.empty() ? "" : ", ") + std::string(strategy.name);
  }
  return names;
}

}  // namespace

std::span<const Strategy> strategies() {
  return kStrategies;
}

const Strategy& strategy_of(SyncKind kind) {
  return *std::find_if(kStrategies.begin(), kStrategies.end(),
                       [&](const Strategy& one) { return one.kind == kind; });
}

const Strategy& strategy_named(std::string_view name) {
  const auto found = std::find_if(kStrategies.begin(), kStrategies.end(),
                                  [&](const Strategy& one) { return one.name == name; });
  if (found != kStrategies.end()) return *found;
  throw Error(ErrorCode::InvalidInput, "sync.kind = \"" + std::string(name) +
                                           "\" does not exist; use one of " +
                                           names_that_support({}));
}

void check_needs(const Strategy& strategy, const SyncNeeds& needs) {
  for (const Conflict& conflict : kConflicts) {
    if (needs.*conflict.one && needs.*conflict.other) {
      throw Error(ErrorCode::InvalidInput, conflict.why);
    }
  }
  for (const Need& need : kNeeds) {
    if (!(needs.*need.is_needed) || strategy.can.*need.is_supported) continue;
    throw Error(ErrorCode::InvalidInput, std::string("sync.kind = \"") + strategy.name +
                                             "\" does not support " + need.setting +
                                             "; use one of " + names_that_support(needs) +
                                             ", or set " + need.remedy);
  }
}

std::string strategies_page() {
  std::string page =
      "# Synchronization strategies\n\n"
      "Generated from the strategies' own records. `sync.kind` selects one; "
      "[parallel.md](parallel.md)\ndescribes how to choose.\n\n"
      "| sync.kind | what it does |\n|---|---|\n";
  for (const Strategy& one : kStrategies) {
    page += std::string("| `") + one.name + "` | " + one.summary + " |\n";
  }
  page +=
      "\n## What each supports\n\n"
      "| sync.kind | all ranks commit every step | replicas may differ | codec | elastic jobs | "
      "`train.logical_ranks` | `balance.drop_stragglers` | needs equal hosts |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const auto cell = [](bool is_so) { return is_so ? " yes |" : "  |"; };
  for (const Strategy& one : kStrategies) {
    const Capabilities& can = one.can;
    page += std::string("| `") + one.name + "` |" + cell(can.commits_every_step) +
            cell(can.has_replicas) + cell(can.has_codec) + cell(can.is_elastic) +
            cell(can.has_logical_ranks) + cell(can.can_drop_stragglers) +
            cell(can.needs_equal_hosts) + "\n";
  }
  page +=
      "\nStrategies that shard the model use a codec only between hosts, because the ranks of a "
      "host "
      "share memory.\n\n## Settings that cannot be combined\n\n";
  for (const Conflict& conflict : kConflicts) page += std::string("- ") + conflict.why + ".\n";
  return page;
}

}  // namespace trireme::parallel
