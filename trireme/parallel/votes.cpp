#include "trireme/parallel/votes.h"

#include <utility>

namespace trireme::parallel {

Votes::Votes(comm::Group group, std::int64_t slack) : group_(std::move(group)), slack_(slack) {}

std::optional<Votes::Ballot> Votes::cast(const Ballot& mine) {
  pending_.push_back(std::make_unique<Pending>(Pending{.ballot = mine, .work = {}}));
  Pending& last = *pending_.back();
  // All ranks wait for these few bytes, so they have priority over other transfers in flight.
  last.work = group_.all_reduce({last.ballot.data(), last.ballot.size(), comm::DType::Int32},
                                comm::ReduceOp::Max, {.label = "votes", .priority = 1});
  if (static_cast<std::int64_t>(pending_.size()) <= slack_) {
    last.work.is_done();
    return std::nullopt;
  }
  pending_.front()->work.wait();
  const Ballot all = pending_.front()->ballot;
  pending_.pop_front();
  return all;
}

void Votes::drain() {
  while (!pending_.empty()) {
    pending_.front()->work.wait();
    pending_.pop_front();
  }
}

}  // namespace trireme::parallel
