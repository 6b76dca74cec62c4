// RoleStore is the part of a job's store in which the members of one role agree. Each role has its
// own charter, members and epochs, and the groups of its epochs, so a change among servers ends no
// group of workers, and the other way round.
//
// Membership opens it for its role; what else the members of a role keep, such as the groups of
// their epochs, they keep in one too.
//
// Keys:          those of workers are the job's own; those of another role begin with its name.
// Thread safety: as the store.
// Lifetime:      the store must outlive it and its watches.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trireme/cluster/roster.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster::membership {

class RoleStore final : public Store {
 public:
  RoleStore(Store& store, Role role);

  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override;

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;

 private:
  class RoleWatch;

  Store& store_;
  const std::string prefix_;
};

}  // namespace trireme::cluster::membership
