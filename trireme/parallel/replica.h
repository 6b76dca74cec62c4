// Replica is this rank's place among replicas of a model that differ from each other: one rank has
// each, or the ranks of a host train one together.
//
// Threads: a value.

#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/agree.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

struct Replica {
  std::shared_ptr<Agreement> own;     // of those inside
  std::vector<Parameter> parameters;  // of the model
  comm::Group all;
  comm::Group across;                        // who has the same part of the others, by replica
  comm::Group inside = comm::Group::solo();  // who holds this one
  std::vector<int> members{};                // by rank inside: the rank among all
  // Called now and then while backward runs, where it can be: for who has something on its way.
  std::shared_ptr<std::function<void()>> progress{};

  // Each rank has one of its own.
  static Replica alone(std::shared_ptr<Agreement> own, std::vector<Parameter> parameters,
                       const comm::Group& all) {
    return {.own = std::move(own),
            .parameters = std::move(parameters),
            .all = all,
            .across = all,
            .members = {all.rank()}};
  }

  int number() const noexcept { return across.rank(); }
  int count() const noexcept { return across.size(); }
  Holders holders() const { return {.ranks = inside, .is_first = number() == 0}; }

  // What those inside make of a step: their slots are all there are.
  StepPlan plan_of(const StepPlan& plan) const;
};

}  // namespace trireme::parallel
