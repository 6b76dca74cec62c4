#include "trireme/parallel/strategies.h"

#include <algorithm>
#include <array>
#include <map>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/parallel/strategy_parts.h"
#include "trireme/parallel/sync_schedule.h"

namespace trireme::parallel {
namespace {

bool is_coded(const SyncOptions& options) {
  return options.has_codec();
}

bool is_elastic(const SyncOptions& options) {
  return options.is_elastic;
}

// Whether hosts have different numbers of ranks. Elastic jobs support that with every strategy.
bool has_unequal_hosts(const SyncOptions& options) {
  if (options.is_elastic) return false;
  std::map<int, int> ranks_on;
  for (const int host : options.group.hosts()) ++ranks_on[host];
  return std::any_of(ranks_on.begin(), ranks_on.end(),
                     [&](const auto& host) { return host.second != ranks_on.begin()->second; });
}

// Whether ranks keep residuals of gradients, and not of what replicas send each other.
bool keeps_gradient_residuals(const Strategy& strategy, const SyncOptions& options) {
  const bool is_of_weights =
      strategy.can.has_replicas && options.pace.crossing == local::Crossing::Weights;
  return is_coded(options) && options.codec.has_error_feedback && !is_of_weights;
}

// A setting that not every strategy supports.
struct Need {
  bool (*is_needed)(const SyncOptions& options);
  bool Capabilities::* capability;
  bool is_required;     // the capability must have this value
  const char* setting;  // as a user writes it
  const char* remedy;   // how to do without it
  const char* column;   // of the reference page; null: none
};
constexpr std::array kNeeds{
    Need{is_coded, &Capabilities::has_codec, true, "a codec (sync.codec)",
         "set sync.codec.kind=none", "codec"},
    Need{[](const SyncOptions& o) { return is_coded(o) && is_one_host(o); },
         &Capabilities::has_shards, false,
         "a codec on one host, whose ranks share the memory of all shards",
         "set sync.codec.kind=none", nullptr},
    Need{is_elastic, &Capabilities::is_elastic, true, "elastic jobs (--elastic)",
         "set elastic.enabled=false", "elastic jobs"},
    Need{[](const SyncOptions& o) { return o.is_ordered; }, &Capabilities::has_logical_ranks, true,
         "train.logical_ranks (bitwise equal results for every world size)",
         "set train.logical_ranks=0", "`train.logical_ranks`"},
    Need{[](const SyncOptions& o) { return o.can_leave_out; }, &Capabilities::can_drop_stragglers,
         true, "balance.drop_stragglers", "set balance.drop_stragglers=0",
         "`balance.drop_stragglers`"},
    Need{[](const SyncOptions& o) { return o.is_balanced; }, &Capabilities::has_replicas, false,
         "balance.kind (micro-batches that move between ranks)", "set balance.kind=off",
         "`balance.kind`"},
    Need{[](const SyncOptions& o) { return o.is_loss_scaled; }, &Capabilities::is_delayed, false,
         "train.precision = \"fp16\", whose loss scale changes between steps",
         "set train.precision=bf16", "fp16"},
    Need{has_unequal_hosts, &Capabilities::needs_equal_hosts, false,
         "hosts with different numbers of ranks", "start the same number of ranks on every host",
         "unequal hosts"},
    Need{[](const SyncOptions& o) { return o.is_sliced_in_host; },
         &Capabilities::can_shard_in_hosts, true, "sync.hybrid_shard",
         "set sync.hybrid_shard=false", "`sync.hybrid_shard`"},
    Need{[](const SyncOptions& o) { return o.is_elastic && o.stretches.front().begin > 0; },
         &Capabilities::can_follow, true,
         "replacing another strategy of an elastic job (sync.schedule)",
         "set elastic.enabled=false", "later in elastic schedules"},
};

// Two settings that contradict each other with every strategy that uses both.
struct Conflict {
  bool (*is_there)(const Strategy& strategy, const SyncOptions& options);
  const char* why;
};
constexpr std::array kConflicts{
    Conflict{[](const Strategy&, const SyncOptions& o) { return is_coded(o) && o.is_ordered; },
             "lossy codecs are not bitwise reproducible across world sizes, so sync.codec cannot "
             "be combined with train.logical_ranks; remove one of them"},
    Conflict{
        [](const Strategy&, const SyncOptions& o) { return o.can_leave_out && o.is_ordered; },
        "balance.drop_stragglers leaves out micro-batches that train.logical_ranks has to sum; "
        "remove one of them"},
    Conflict{[](const Strategy& strategy, const SyncOptions& o) {
               return o.is_loss_scaled && keeps_gradient_residuals(strategy, o);
             },
             "the loss scale of train.precision = \"fp16\" changes between steps, and "
             "sync.codec.error_feedback keeps scaled residuals of gradients from step to step; use "
             "train.precision=bf16 or sync.codec.error_feedback=false"},
    Conflict{[](const Strategy&, const SyncOptions& o) {
               return o.own_codec && o.codec.kind != codec::CodecKind::None;
             },
             "sync.codec.kind cannot be combined with a codec of the program; use one of them"},
    Conflict{[](const Strategy&, const SyncOptions& o) {
               return o.is_sliced_in_host && has_unequal_hosts(o);
             },
             "sync.hybrid_shard requires the same number of ranks on every host; start that many, "
             "or use sync.hybrid_shard=false"},
    // A rank that leaves may have announced the size of its message and not sent it.
    Conflict{[](const Strategy&, const SyncOptions& o) {
               return is_elastic(o) && o.pace.overlap > 0 && is_coded(o) &&
                      !codec_of(o)->is_fixed_size();
             },
             "sync.overlap is not supported in elastic jobs with codecs whose messages vary in "
             "size; use int8 or another codec, sync.overlap=0, or elastic.enabled=false"},
    Conflict{
        [](const Strategy&, const SyncOptions& o) { return is_elastic(o) && o.pace.slack > 0; },
        "sync.slack is not supported in elastic jobs, whose workers end a step together; use "
        "sync.slack=0 or elastic.enabled=false"},
};

bool supports(const Strategy& strategy, const Need& need) {
  return strategy.can.*need.capability == need.is_required;
}

bool supports(const Strategy& strategy, const SyncOptions& options) {
  return std::all_of(kNeeds.begin(), kNeeds.end(), [&](const Need& need) {
    return !need.is_needed(options) || supports(strategy, need);
  });
}

}  // namespace

void Strategies::add_entry(Strategy entry) {
  for (const auto& other : all_) {
    TRIREME_CHECK(other->name != entry.name, "there is a strategy ", entry.name, " already");
  }
  TRIREME_CHECK(!entry.make != !entry.expand, "the strategy ", entry.name,
                " needs either make or expand");
  const auto at = entry.is_default ? all_.begin() : all_.end();
  all_.insert(at, std::make_shared<const Strategy>(std::move(entry)));
}

const Strategy& Strategies::named(std::string_view name) const {
  for (const auto& one : all_) {
    if (one->name == name) return *one;
  }
  throw Error(ErrorCode::InvalidInput, "sync.kind = \"" + std::string(name) +
                                           "\" does not exist; use one of " +
                                           names([](const Strategy&) { return true; }));
}

std::string Strategies::names(const std::function<bool(const Strategy&)>& is_named) const {
  std::string text;
  for (const auto& one : all_) {
    if (one->is_default || !is_named(*one)) continue;
    text += (text.empty() ? "" : ", ") + one->name;
  }
  return text;
}

void Strategies::add_section(config::Schema& schema) const {
  config::Section common(kSyncSection, "");
  common.fields<SyncConfig>();
  config::SectionPart part = common.parts().front();
  // A schedule names strategies, which the struct does not know.
  part.complaints = [strategies = *this, own = part.complaints](const void* config) {
    std::vector<std::string> all = own(config);
    const auto& schedule = static_cast<const SyncConfig*>(config)->schedule;
    const std::string complaint = complaint_of_schedule(schedule, strategies);
    if (!complaint.empty()) all.push_back("schedule: " + complaint);
    return all;
  };
  schema.section(kSyncSection, "how ranks arrive at the same weights").add(std::move(part));
  add_kinds(schema);
}

void Strategies::add_kinds(config::Schema& schema) const {
  config::Section& section = schema.section(kSyncSection);
  for (const auto& one : all_) one->declare(section);
}

void Strategies::check(const Strategy& strategy, const SyncOptions& options) const {
  for (const Conflict& conflict : kConflicts) {
    if (conflict.is_there(strategy, options)) throw Error(ErrorCode::InvalidInput, conflict.why);
  }
  for (const Need& need : kNeeds) {
    if (!need.is_needed(options) || supports(strategy, need)) continue;
    throw Error(ErrorCode::InvalidInput,
                "sync.kind = \"" + strategy.name + "\" does not support " + need.setting +
                    "; use one of " +
                    names([&](const Strategy& one) { return supports(one, options); }) + ", or " +
                    need.remedy);
  }
}

std::string strategies_page(const Strategies& strategies) {
  std::string page =
      "# Synchronization strategies\n\n"
      "Generated from the strategies' own records. `sync.kind` selects one; "
      "[parallel.md](parallel.md)\ndescribes how to choose, and "
      "[own_strategy.md](own_strategy.md) how to add one.\n\n"
      "| sync.kind | what it does |\n|---|---|\n";
  for (const auto& one : strategies.all()) page += "| `" + one->name + "` | " + one->help + " |\n";
  std::string head = "| sync.kind | all ranks commit every step | replicas may differ |";
  std::string rule = "|---|---|---|";
  for (const Need& need : kNeeds) {
    if (need.column == nullptr) continue;
    head += std::string(" ") + need.column + " |";
    rule += "---|";
  }
  page += "\n## What each supports\n\n" + head + "\n" + rule + "\n";
  const auto cell = [](bool is_so) { return is_so ? " yes |" : "  |"; };
  for (const auto& one : strategies.all()) {
    page +=
        "| `" + one->name + "` |" + cell(one->can.commits_every_step) + cell(one->can.has_replicas);
    for (const Need& need : kNeeds) {
      if (need.column != nullptr) page += cell(supports(*one, need));
    }
    page += "\n";
  }
  page +=
      "\nStrategies that shard the model use a codec only between hosts, because the ranks of a "
      "host share memory.\n`balance.kind` is also supported where settings keep replicas from "
      "differing (`hierarchical`).\nElastic jobs support unequal hosts with every strategy that "
      "they "
      "support, and always shard within hosts.\n\n## Settings that cannot be combined\n\n";
  for (const Conflict& conflict : kConflicts) page += std::string("- ") + conflict.why + ".\n";
  return page;
}

}  // namespace trireme::parallel
