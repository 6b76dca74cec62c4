// Epoch is one decided membership of a job: a number, and the members in the order of their ranks.
// For every number at most one epoch is ever decided, in the job's store. Everything created for an
// epoch (groups, ranks, micro-batch assignments) ends with it. A job of fixed size has one epoch.
//
// Worker:        one process of the job; its number is never used again.
// Place:         a member's index in its host's arena and in the life pages of the other members on
//                the host. It is unique among the members of a host, and is free again only once
//                its holder was seen dead.
// New:           a member that has yet to receive the training state from the others.
// Dismissed:     a worker that was alive and was left out because the job was made smaller.
// Errors:        decoding throws Protocol for bytes that encode() does not produce.
// Thread safety: a value; reading it from any thread is safe.

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

// The number of members of an arena, and of an elastic job.
inline constexpr int kPlacesMax = 128;

// Its rank is its position in the epoch.
struct EpochMember {
  int worker = 0;
  int place = 0;
  bool is_new = false;
  Member about{};  // its rank is the worker's number
};

class Epoch {
 public:
  // Number 0, before the first epoch: no members.
  Epoch() = default;
  // REQUIRES: no worker and no place of a host occurs twice.
  Epoch(std::uint64_t number, std::vector<EpochMember> members, std::vector<int> dismissed = {});

  std::uint64_t number() const noexcept { return number_; }
  int size() const noexcept { return static_cast<int>(members_.size()); }
  std::span<const EpochMember> members() const noexcept { return members_; }
  const EpochMember& member(int rank) const;
  std::span<const int> dismissed() const noexcept { return dismissed_; }
  // Why workers are no longer members, by worker, as known to the member that proposed the epoch.
  const std::map<int, std::string>& causes() const noexcept { return causes_; }
  void set_cause(int worker, std::string cause) { causes_[worker] = std::move(cause); }

  std::optional<int> rank_of(int worker) const noexcept;
  bool contains(int worker) const noexcept { return rank_of(worker).has_value(); }
  bool has_dismissed(int worker) const noexcept;
  // The workers of `before` that are not in this epoch, in the order of their ranks in `before`.
  std::vector<int> without(const Epoch& before) const;
  // The members by rank: ranks are positions in this epoch.
  Roster roster() const;

 private:
  std::uint64_t number_ = 0;
  std::vector<EpochMember> members_;
  std::vector<int> dismissed_;
  std::map<int, std::string> causes_;
};

Bytes encode(const Epoch& epoch);
Epoch decode_epoch(ByteView bytes);

// "worker 3", "workers 3, 7-9"; or another noun. REQUIRES: ascending.
std::string name_workers(std::span<const int> workers, const std::string& noun = "worker");

}  // namespace trireme::cluster::membership
