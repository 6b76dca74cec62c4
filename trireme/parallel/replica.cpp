#include "trireme/parallel/replica.h"

#include <algorithm>
#include <numeric>

#include "trireme/parallel/data/elastic_data_parallel.h"

namespace trireme::parallel {

int Replica::number() const {
  return numbers.empty() ? across.rank() : numbers[static_cast<std::size_t>(all.rank())];
}

int Replica::count() const {
  return numbers.empty() ? across.size() : 1 + *std::max_element(numbers.begin(), numbers.end());
}

StepPlan Replica::plan_of(const StepPlan& plan) const {
  StepPlan mine = plan;
  mine.micro_batches.clear();
  mine.owners.clear();
  for (const int owner : plan.owners) {
    const auto member = std::find(members.begin(), members.end(), owner);
    if (member == members.end()) continue;
    if (owner == all.rank()) mine.micro_batches.push_back(static_cast<int>(mine.owners.size()));
    mine.owners.push_back(static_cast<int>(member - members.begin()));
  }
  mine.micro_batch_count = static_cast<int>(mine.owners.size());
  return mine;
}

void Replica::regroup(const comm::Group& group, const std::vector<int>& places) {
  all = group;
  commit_group.reset();
  if (is_led()) {
    numbers = group.hosts();
  } else {
    numbers.resize(static_cast<std::size_t>(group.size()));
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  std::vector<int> leaders(static_cast<std::size_t>(count()), -1);
  std::vector<int> own_places;
  members.clear();
  for (int rank = 0; rank < group.size(); ++rank) {
    const int own_number = numbers[static_cast<std::size_t>(rank)];
    int& leader = leaders[static_cast<std::size_t>(own_number)];
    if (leader < 0) leader = rank;
    if (own_number != number()) continue;
    members.push_back(rank);
    own_places.push_back(places[static_cast<std::size_t>(rank)]);
  }
  if (!is_led()) {
    across = group;
    return;
  }
  inside = group.subgroup(members);
  across = is_leader() ? group.subgroup(leaders) : comm::Group::solo();
  host->survive(inside, own_places);
}

}  // namespace trireme::parallel
