// Epoch is one agreement on who takes part in an elastic job: a number, and the members in the
// order of their ranks. For every number at most one is ever decided, in the job's store; all
// that is made for an epoch (groups, ranks, slots) ends with it.
//
// Worker: one process of the job; its number is never used again.
// Place:  a member's seat in its host's arena and in the life pages of its neighbours, unique
//         among the members of a host and free again only once its holder was seen dead.
// New:    a member that has yet to be given the state by the others.
// Dismissed: who was alive and left out because the job was made smaller.
//
// Failure: decoding throws Protocol for bytes that encode() does not make.
// Threads: a value; reading it from any thread is safe.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/cluster/roster.h"

namespace trireme::cluster::membership {

// As many as an arena has members.
inline constexpr int kPlacesMax = 128;
// Among those who watch a member's life: its peers have their seats' places.
inline constexpr int kLauncherPlace = kPlacesMax;

struct Seat {
  int worker = 0;
  int place = 0;
  bool is_new = false;
  Member about{};  // its rank is the worker's number
};

class Epoch {
 public:
  // Number 0, before the first: nobody.
  Epoch() = default;
  // REQUIRES: no worker twice, no place of a host twice.
  Epoch(std::uint64_t number, std::vector<Seat> seats, std::vector<int> dismissed = {});

  std::uint64_t number() const noexcept { return number_; }
  int size() const noexcept { return static_cast<int>(seats_.size()); }
  std::span<const Seat> seats() const noexcept { return seats_; }
  const Seat& seat(int rank) const;
  std::span<const int> dismissed() const noexcept { return dismissed_; }
  // Why workers are no longer in it, by worker, as whoever proposed it knew.
  const std::map<int, std::string>& causes() const noexcept { return causes_; }
  void set_cause(int worker, std::string cause) { causes_[worker] = std::move(cause); }

  std::optional<int> rank_of(int worker) const noexcept;
  bool contains(int worker) const noexcept { return rank_of(worker).has_value(); }
  bool has_dismissed(int worker) const noexcept;
  // Nobody in it has a state that could be given to the others.
  bool is_all_new() const noexcept;
  // The workers of `before` that are no longer in this one, in the order of their ranks there.
  std::vector<int> without(const Epoch& before) const;
  // The same members as a fixed job would have met: ranks are places in this epoch.
  Roster roster() const;

 private:
  std::uint64_t number_ = 0;
  std::vector<Seat> seats_;
  std::vector<int> dismissed_;
  std::map<int, std::string> causes_;
};

Bytes encode(const Epoch& epoch);
Epoch decode_epoch(ByteView bytes);

// "worker 3", "workers 3, 7-9". REQUIRES: ascending.
std::string name_workers(std::span<const int> workers);

}  // namespace trireme::cluster::membership
