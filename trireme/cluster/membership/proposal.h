// What a member proposes as the next epoch, as arithmetic.
//
// Order:   the members that go on keep their order; whoever is taken in comes after them, by
//          worker number.
// Places:  a newcomer has the lowest place of its host that nobody in `base` or `avoided` holds:
//          a dead member's place is free only in a later epoch, when all have seen it dead.
// Leaving: where fewer are wanted than there are, the highest workers are dismissed.

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
  const std::set<int>& has_state;  // new ones of base that no longer are
  const Places& avoided;
  // By epochs before: named again while they are still announced, so that nobody takes them in.
  const std::set<int>& dismissed;
  // Who waits and how many are wanted; null: nobody is taken in and nobody is dismissed.
  const Presence* presence = nullptr;
  int most = kPlacesMax;
};

Epoch propose(const ProposalInput& input);

// The first epoch of a job, or of one that begins anew after all its members died: everybody who
// is there, up to `most`, and nobody is new. `before` is the last epoch, of number 0 if there was
// none: its members are dead, and whom it dismissed stays so.
Epoch propose_first(const Epoch& before, const Presence& presence, int most);

Places places_of(const Epoch& epoch);

}  // namespace trireme::cluster::membership
