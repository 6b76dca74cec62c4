// StateHandover carries weights and optimizer state from one synchronization strategy to the next,
// in whatever shards each of them has.
//
//   StateHandover handover(parameters, optimizer.state_names());
//   auto state = handover.whole(old->saved(), group);  // the same on every rank
//   old.reset();                                       // frees its memory first
//   handover.take(state);                              // the parameters have its values
//   StateHandover::give(state, next->saved());
//
// Errors:        what Group throws.
// Thread safety: one thread at a time.

#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/saved_state.h"

namespace trireme::parallel {

class StateHandover {
 public:
  using Whole = std::map<std::string, at::Tensor>;  // by name of a piece

  // `states`: of the optimizer, by name.
  StateHandover(std::vector<Parameter> parameters, std::vector<std::string> states)
      : parameters_(std::move(parameters)), states_(std::move(states)) {}

  // The state of all ranks together, which differs between none of them. A collective.
  Whole whole(SavedState& from, const comm::Group& group) const;
  // The parameters get the values of `state`, in memory of their own, and have no gradients. With
  // an empty state they keep their values.
  void take(const Whole& state) const;
  static void give(const Whole& state, SavedState& to);

 private:
  std::vector<Parameter> parameters_;
  std::vector<std::string> states_;
};

}  // namespace trireme::parallel
