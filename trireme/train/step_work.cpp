#include "trireme/train/step_work.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace trireme::train {

const data::StepBatches& StepWork::next(const std::vector<int>& owners) {
  given_ = &loader_->next();
  owners_ = owners;
  additions_.clear();
  if (returned_.empty()) return *given_;
  work_ = *given_;
  add_returned();
  return work_;
}

void StepWork::set_returned(std::vector<data::Returned> samples) {
  returned_ = std::move(samples);
  left_out_.clear();
}

// Appends returned samples to the last micro-batch of each replica that was not left out of the
// last step. A separate pass over a few samples would compute statistics (batch norm) of only those
// few.
void StepWork::add_returned() {
  const std::set<int> owners(owners_.begin(), owners_.end());
  std::vector<int> replicas;
  std::ranges::set_difference(owners, left_out_, std::back_inserter(replicas));
  if (replicas.empty()) replicas.assign(owners.begin(), owners.end());
  const int own =
      work_.batches.empty() ? -1 : owners_[static_cast<std::size_t>(work_.micro_batches.front())];
  const auto count = static_cast<std::int64_t>(replicas.size());
  for (const data::Returned& whole : std::exchange(returned_, {})) {
    for (std::int64_t i = 0; i < count; ++i) {
      const data::Returned part = data::part_of(whole, i, count);
      const int owner = replicas[static_cast<std::size_t>(i)];
      if (part.samples.count() == 0) continue;
      if (owner == own) {
        data::append(work_.batches.back(), loader_->read(part, work_.total));
      }
      additions_.push_back({owner, part});
      work_.total += part.samples.count();
    }
  }
}

std::int64_t StepWork::take_back(const std::vector<int>& left_out) {
  left_out_ = left_out;
  std::int64_t count = 0;
  const auto take = [&](int owner, const data::Returned& samples) {
    const bool is_left_out = std::ranges::find(left_out, owner) != left_out.end();
    if (!is_left_out || samples.samples.count() == 0) return;
    returned_.push_back(samples);
    count += samples.samples.count();
  };
  if (left_out.empty()) return 0;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    take(owners_[i], loader_->samples_of(*given_, static_cast<int>(i)));
  }
  for (const Addition& one : additions_) take(one.owner, one.samples);
  return count;
}

}  // namespace trireme::train
