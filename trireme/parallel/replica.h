// Replica describes this rank's part in a set of model replicas that differ from each other. Each
// replica belongs to one rank, or to the ranks of a host, which train it together.
//
// If several ranks hold a replica, each can exchange its part with the ranks that hold the same
// part of the other replicas; this requires the same number of ranks on every host. Or the replicas
// are led: the first rank of each exchanges for all of them, and every rank holds all the state
// that replicas have in common. Then any rank may fail, and hosts may have different numbers of
// ranks.
//
// Thread safety: a value.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

namespace data {
class ElasticDataParallel;
}

struct Replica {
  std::shared_ptr<GradientSync> own;  // synchronizes the ranks of this replica
  std::vector<Parameter> parameters;  // of the model
  comm::Group all;
  std::optional<comm::Group> commit_group{};  // see SyncOptions
  comm::Group across;                         // the ranks with the same part, by replica
  comm::Group inside = comm::Group::solo();   // the ranks of this replica
  std::vector<int> members{};                 // by rank of `inside`: the rank in `all`
  // Called from time to time while backward runs, if `own` supports that, so that communication in
  // flight makes progress.
  std::shared_ptr<std::function<void()>> progress{};
  std::vector<std::string> states{};  // of the optimizer, by name
  // `own`, if replicas are led. Then `across` contains the first ranks of all replicas; on other
  // ranks it contains only this rank.
  std::shared_ptr<data::ElasticDataParallel> host{};
  std::vector<int> numbers{};  // by rank of `all`: its replica; empty before regroup()

  // Each rank of `all` has its own replica, with other ranks if the caller sets `inside`.
  static Replica alone(std::shared_ptr<GradientSync> own, std::vector<Parameter> parameters,
                       const comm::Group& all) {
    return {.own = std::move(own),
            .parameters = std::move(parameters),
            .all = all,
            .across = all,
            .members = {all.rank()}};
  }

  int number() const;
  int count() const;
  bool is_led() const noexcept { return host != nullptr; }
  // Whether this rank takes part in exchanges between replicas.
  bool is_leader() const noexcept { return !is_led() || inside.rank() == 0; }
  Holders holders() const { return {.ranks = inside, .is_first = number() == 0}; }

  // The plan of a step for this replica: it contains only the micro-batches of its ranks.
  StepPlan plan_of(const StepPlan& plan) const;

  // Uses this group from now on; `places` as in ElasticSync::survive(). If replicas are led, the
  // ranks of a host hold one.
  void regroup(const comm::Group& group, const std::vector<int>& places);
};

}  // namespace trireme::parallel
