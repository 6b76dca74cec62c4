// RoleStore is the part of a job's store in which the members of one role agree. Each role has its
// own charter, members and epochs, and the groups of its epochs, so a change among servers ends no
// group of workers, and the other way round.
//
//   RoleStore store(job_store, Role::Server);
//   Membership membership({.worker = 0, .role = Role::Server, .store = &store});
//
// Keys:          those of workers are the job's own; those of another role begin with its name. A
//                member in the store of another role is refused when it compares itself with the
//                charter.
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
