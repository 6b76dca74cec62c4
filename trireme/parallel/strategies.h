// Strategies lists every synchronization strategy (sync.kind) with a record of what it supports.
// Settings are checked against the records, and error messages, the schema of recipes and the
// reference page (docs/strategies.md) are generated from them.
//
// A new strategy adds its record to strategies.cpp and its construction to make_gradient_sync.cpp;
// nothing else compares names or kinds.
//
// Thread safety: pure functions over constants.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trireme/parallel/sync_config.h"

namespace trireme::parallel {

struct Capabilities {
  bool has_codec = false;            // what travels between ranks can be encoded
  bool is_elastic = false;           // survives the loss of ranks, and admits new ones
  bool has_logical_ranks = false;    // bitwise equal results for every world size
  bool can_drop_stragglers = false;  // a step can be committed without slow ranks
  bool commits_every_step = false;   // all ranks apply the same update in every step
  bool has_replicas = false;         // the weights of ranks differ between synchronizations
  bool has_shards = false;           // each rank updates a part of the model
  bool needs_equal_hosts = false;    // the same number of ranks on every host, unless elastic
};

struct Strategy {
  SyncKind kind = SyncKind::Auto;
  const char* name = "";
  const char* summary = "";
  Capabilities can{};
};

std::span<const Strategy> strategies();
const Strategy& strategy_of(SyncKind kind);
// Throws InvalidInput for a name that does not exist.
const Strategy& strategy_named(std::string_view name);

// Settings that only some strategies support.
struct SyncNeeds {
  bool is_coded = false;           // sync.codec, or a codec of the program
  bool is_elastic = false;         // --elastic
  bool has_logical_ranks = false;  // train.logical_ranks
  bool drops_stragglers = false;   // balance.drop_stragglers
};

// Throws InvalidInput if the strategy does not support a setting, or if two settings contradict
// each other; the message names the strategies that support all of them.
void check_needs(const Strategy& strategy, const SyncNeeds& needs);

// docs/strategies.md.
std::string strategies_page();

}  // namespace trireme::parallel
