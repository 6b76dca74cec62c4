#include "trireme/train/step_work.h"

#include <algorithm>
#include <utility>

namespace trireme::train {

const data::StepBatches& StepWork::next(const std::vector<int>& owners) {
  given_ = &options_.loader->next();
  owners_ = owners;
  additions_.clear();
  if (returned_.empty()) return *given_;
  work_ = *given_;
  add_returned();
  return work_;
}

void StepWork::set_returned(std::vector<data::Returned> samples) {
  returned_ = std::move(samples);
  was_left_out_.clear();
}

// Appends returned samples to the last micro-batch of each replica that was not left out of the
// last step. A separate pass over a few samples would compute statistics (batch norm) of only those
// few.
void StepWork::add_returned() {
  std::vector<int> replicas;
  for (int replica = 0; replica < options_.replicas; ++replica) {
    const auto r = static_cast<std::size_t>(replica);
    const bool has_micro_batch = std::ranges::find(owners_, replica) != owners_.end();
    const bool was_there = r >= was_left_out_.size() || !was_left_out_[r];
    if (has_micro_batch && was_there) replicas.push_back(replica);
  }
  const auto count = static_cast<std::int64_t>(replicas.size());
  for (const data::Returned& whole : std::exchange(returned_, {})) {
    for (std::int64_t i = 0; i < count; ++i) {
      const data::Returned part = data::part_of(whole, i, count);
      const int owner = replicas[static_cast<std::size_t>(i)];
      if (part.samples.count() == 0) continue;
      if (owner == options_.replica) {
        data::append(work_.batches.back(), options_.loader->read(part, work_.total));
      }
      additions_.push_back({owner, part});
      work_.total += part.samples.count();
    }
  }
}

std::int64_t StepWork::take_back(const std::vector<bool>& is_left_out) {
  was_left_out_ = is_left_out;
  std::int64_t count = 0;
  const auto take = [&](int owner, const data::Returned& samples) {
    if (!is_left_out[static_cast<std::size_t>(owner)] || samples.samples.count() == 0) return;
    returned_.push_back(samples);
    count += samples.samples.count();
  };
  if (std::ranges::find(is_left_out, true) == is_left_out.end()) return 0;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    take(owners_[i], options_.loader->samples_of(*given_, static_cast<int>(i)));
  }
  for (const Addition& one : additions_) take(one.owner, one.samples);
  return count;
}

}  // namespace trireme::train
