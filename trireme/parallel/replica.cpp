#include "trireme/parallel/replica.h"

#include <algorithm>

namespace trireme::parallel {

StepPlan Replica::plan_of(const StepPlan& plan) const {
  StepPlan mine = plan;
  mine.slots.clear();
  mine.owners.clear();
  for (const int owner : plan.owners) {
    const auto member = std::find(members.begin(), members.end(), owner);
    if (member == members.end()) continue;
    if (owner == all.rank()) mine.slots.push_back(static_cast<int>(mine.owners.size()));
    mine.owners.push_back(static_cast<int>(member - members.begin()));
  }
  mine.slot_count = static_cast<int>(mine.owners.size());
  return mine;
}

}  // namespace trireme::parallel
