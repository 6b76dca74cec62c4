// Fragments are the parts of a model that replicas synchronize one after the other (fragment.h),
// and what this rank exchanges of each: whole parameters if it holds the replica alone or if
// replicas are led, else the parts that it updates.
//
// Errors:        what Group throws.
// Thread safety: as Fragment.
// Lifetime:      the replica must outlive its fragments, which read its groups from it.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trireme/parallel/local/fragment.h"
#include "trireme/parallel/replica.h"

namespace trireme::parallel::local {

class Fragments {
 public:
  // `options`: without role and index, and without the parameters and the group of `flat`.
  Fragments(Fragment::Options options, const Replica& replica);

  std::size_t count() const noexcept { return all_.size(); }
  Fragment& operator[](std::size_t index) { return all_[index]; }
  const Fragment& operator[](std::size_t index) const { return all_[index]; }
  auto begin() noexcept { return all_.begin(); }
  auto end() noexcept { return all_.end(); }

  bool is_overlapped() const noexcept { return options_.pace.overlap > 0; }
  bool is_in_pairs() const noexcept { return options_.gathering == CombineRule::Pair; }
  Fragment::Role role() const;

  void send(std::size_t index);
  // Makes progress without waiting.
  void poll();
  // The traffic since the last call.
  Traffic take_traffic() { return std::exchange(traffic_, {}); }
  // The distance of this replica from the weights at the start of the round, relative to their
  // norm. A collective of the replica's ranks. REQUIRES: anchors.
  double distance();

  // Uses the replica's groups, which have changed. The caller sends the values in flight again.
  void regroup();
  // Gives up fragments that are not in flight equally on all ranks with a state. This happens if a
  // rank died while a checkpoint was being read, and then all ranks will read it again.
  void drop_doubtful(bool has_state);
  void send_again();

 private:
  Fragment::Options options_;
  const Replica& replica_;
  std::vector<Fragment> all_;
  Traffic traffic_;
};

}  // namespace trireme::parallel::local
