#include "trireme/parallel/replica.h"

#include <algorithm>

namespace trireme::parallel {

StepPlan Replica::plan_of(const StepPlan& plan) const {
  StepPlan own = plan;
  own.slots.clear();
  own.owners.clear();
  for (const int owner : plan.owners) {
    const auto member = std::find(members.begin(), members.end(), owner);
    if (member == members.end()) continue;
    if (owner == all.rank()) own.slots.push_back(static_cast<int>(own.owners.size()));
    own.owners.push_back(static_cast<int>(member - members.begin()));
  }
  own.slot_count = static_cast<int>(own.owners.size());
  return own;
}

}  // namespace trireme::parallel
