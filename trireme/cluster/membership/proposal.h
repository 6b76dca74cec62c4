// Computes what a member proposes as the next epoch. Pure functions.
//
// Order:   remaining members keep their order; admitted workers follow, ordered by worker number.
// Places:  a new member gets the lowest place of its host that is not used in `base` or `avoided`:
//          a dead member's place is free only in a later epoch, when all members have seen it dead.
// Leaving: if fewer workers are wanted than there are, the workers with the highest numbers are
//          dismissed.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"

namespace trireme::cluster::membership {

using Places = std::set<std::pair<std::string, int>>;  // host and place

struct ProposalInput {
  const Epoch& base;
  const std::set<int>& dead;
  const std::set<int>& has_state;  // new members of `base` that have the state now
  const Places& avoided;
  // Workers that earlier epochs dismissed. The proposal lists them as long as they are announced;
  // otherwise a member would admit them as new ones.
  const std::set<int>& dismissed;
  // The announced workers and the wanted number; null: no worker is admitted and none is dismissed.
  const Presence* presence = nullptr;
  int most = kPlacesMax;
};

Epoch propose(const ProposalInput& input);

// The first epoch of a job, or of a job that restarts after all its members died: all announced
// workers, up to `most`, and none of them is new. `before` is the last epoch, with number 0 if
// there was none: its members are dead, and workers that it dismissed stay dismissed. A host has
// as many places as it has workers, since jobs that share no memory may exceed kPlacesMax.
Epoch propose_first(const Epoch& before, const Presence& presence, int most);

Places places_of(const Epoch& epoch);

}  // namespace trireme::cluster::membership
