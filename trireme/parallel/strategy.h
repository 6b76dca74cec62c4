// A Strategy is the record of a synchronization strategy (sync.kind): its name, its settings, what
// it supports and how it is made. Whatever depends on the strategy of a job asks the record.
//
// A strategy is added with a StrategyRecord<Config>, where Config has the settings of this strategy
// alone (config/fields.h); see Strategies::add().
//
// Thread safety: values.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/section.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/sync_options.h"

namespace trireme::parallel {

struct Capabilities {
  bool has_codec = false;            // what travels between ranks can be encoded
  bool is_elastic = false;           // survives the loss of ranks, and admits new ones
  bool has_logical_ranks = false;    // bitwise equal results for every world size
  bool can_drop_stragglers = false;  // a step can be committed without slow ranks
  bool commits_every_step = false;   // all ranks apply the same update in every step
  bool can_cut_replicas = false;     // several ranks hold a replica together (parallel.tensor)
  bool can_run_stages = false;       // passes of several micro-batches overlap (parallel.pipe)
  bool has_replicas = false;         // the weights of ranks differ between synchronizations
  bool has_shards = false;           // each rank updates a part of the model
  bool can_shard_in_hosts = false;   // with replicas across hosts
  bool can_follow = false;           // elastic: may replace a strategy while the job runs
  bool needs_equal_hosts = false;    // the same number of ranks on every host, unless elastic
  bool needs_unscaled_loss = false;  // gradients without a loss scale that changes (fp16)
  bool is_sequence = false;          // of other strategies, one after the other
};

struct NoSettings {
  static void describe(config::Fields<NoSettings>&) {}
};

template <class Config = NoSettings>
struct StrategyRecord {
  std::string name;
  std::string help;
  Capabilities can{};
  // Makes the strategy for a job of several ranks, or for an elastic job.
  std::function<std::shared_ptr<GradientSync>(const Config&, SyncOptions)> make{};
  // A local-update method: its rounds, which make() receives as SyncOptions::pace. Settings that
  // are derived from local::RoundSettings need no function.
  std::function<local::RoundSettings(const Config&)> pace{};
  // Whether the weights of ranks differ with these options, if that depends on them.
  std::function<bool(const SyncOptions&)> has_replicas{};
  // Instead of make(): the strategies that this name stands for, one after the other.
  std::function<std::vector<Stretch>(const Stretch&, const SyncOptions&)> expand{};
  bool is_default = false;  // of sync.kind
};

// The same for every Config; `settings` points to one, or is null for the defaults. has_replicas is
// never null.
struct Strategy : StrategyRecord<std::shared_ptr<const void>> {
  std::function<void(config::Section&)> declare{};
  std::function<std::shared_ptr<const void>(const config::Config&)> read{};
  bool has_replicas_at_times = false;  // the record has a function has_replicas
};

}  // namespace trireme::parallel
