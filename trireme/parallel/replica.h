// Replica is this rank's place among replicas of a model that differ from each other: one rank has
// each, or the ranks of a host train one together.
//
// Of a replica that several ranks hold, each may speak to those who have the same part of the
// others; that takes as many ranks on every host. Or the first of them speaks for all (they are
// led), and each knows all of what replicas have in common: then any of them may be lost, and hosts
// may have unequal numbers.
//
// Threads: a value.

#pragma once

#include <functional>
#include <memory>
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
  std::shared_ptr<GradientSync> own;  // of those inside
  std::vector<Parameter> parameters;  // of the model
  comm::Group all;
  comm::Group across;                        // who has the same part of the others, by replica
  comm::Group inside = comm::Group::solo();  // who holds this one
  std::vector<int> members{};                // by rank inside: the rank among all
  // Called now and then while backward runs, where it can be: for who has something on its way.
  std::shared_ptr<std::function<void()>> progress{};
  std::vector<std::string> states{};  // of the optimizer, by name
  // `own`, where replicas are led; `across` is then of those who speak, of others this rank alone.
  std::shared_ptr<data::ElasticDataParallel> host{};
  std::vector<int> numbers{};  // by rank among all: of the replica that it holds; or: empty

  // Each rank has one of its own.
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
  // Whether this rank speaks for those inside, or for its part.
  bool is_led() const noexcept { return host != nullptr; }
  bool is_speaker() const noexcept { return !is_led() || inside.rank() == 0; }
  Holders holders() const { return {.ranks = inside, .is_first = number() == 0}; }

  // What those inside make of a step: their slots are all there are.
  StepPlan plan_of(const StepPlan& plan) const;

  // From now on with these; `places` as in ElasticSync. Those of a host hold one where replicas are
  // led.
  void regroup(const comm::Group& group, const std::vector<int>& places);
};

}  // namespace trireme::parallel
