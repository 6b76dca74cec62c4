// Which settings cannot be combined with a synchronization strategy, or with each other, as data:
// recipes carry it in their schema (trireme/base/config/conflict.h), so that `trireme` refuses a
// recipe before it starts a worker.
//
// Conditions name settings and, with `job.`, what no recipe states. A job of one rank that is not
// elastic synchronizes nothing and has no conflicts.
//
// Thread safety: pure functions.

#pragma once

#include <vector>

#include "trireme/base/config/conflict.h"
#include "trireme/parallel/strategy.h"
#include "trireme/parallel/sync_options.h"

namespace trireme::parallel {

class Strategies;

// A setting that not every strategy supports.
struct Need {
  std::vector<config::Condition> when;
  bool Capabilities::* capability;
  bool is_required;     // the capability must have this value
  const char* setting;  // as a user writes it
  const char* remedy;   // how to do without it
  const char* column;   // of the reference page; null: none
};
std::vector<Need> needs();
bool supports(const Strategy& strategy, const Need& need);

// Settings that contradict each other with every strategy that uses all of them.
std::vector<config::Conflict> contradictions(const Strategies& strategies);

// These contradictions, and the strategies that do not support a setting.
std::vector<config::Conflict> conflicts_of(const Strategies& strategies);

// All values that conditions ask about and these options determine.
config::KeyedValues facts_of(const Strategy& strategy, const SyncOptions& options);

}  // namespace trireme::parallel
