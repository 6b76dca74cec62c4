// HierarchicalBackend serves ranks on several hosts with several ranks each: shared memory within a
// host, messages between hosts.
//
// all_reduce: each rank of a host reduces one slice (shared memory); the ranks with the same local
// index on all hosts reduce that slice over the network, all local indices at once; the slices are
// gathered within each host. Every byte crosses the network once per host instead of once per rank.
// broadcast also goes host by host; all other operations use plain messages. Each operation begins
// with a hello over the network, in which all members compare their requests.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/backend.h"

namespace trireme::comm::hierarchy {

class HierarchicalBackend final : public Backend {
 public:
  // Create the shared-memory backend of some ranks of this rank's host (numbered as in the job's
  // root group), and the message backend of any ranks.
  struct Parts {
    std::function<std::shared_ptr<Backend>(const std::vector<int>& ranks, std::uint64_t key)>
        inside;
    std::function<std::shared_ptr<MessageBackend>(const std::vector<int>& ranks, std::uint64_t key)>
        across;
    std::vector<int> host_of;  // by job rank
  };

  // REQUIRES: `members` are on at least two hosts, and one host holds at least two of them.
  HierarchicalBackend(Parts parts, std::vector<int> members, int me, std::uint64_t key);

  BackendCapabilities capabilities() const noexcept override;
  Task run(const Operation& op) override;
  void give_up() noexcept override;
  void depart(int job_rank) override;
  Error stalled(const Operation& op, Duration waited) const override;
  std::optional<Error> failure() const override;
  std::optional<Error> loss() const override { return flat_->loss(); }
  void announce(const Error& error) noexcept override;
  std::vector<int> hosts() const override;
  std::shared_ptr<Backend> subgroup(std::span<const int> ranks, std::uint64_t key) override;

 private:
  // Sequence numbers in the three backends, reserved when an operation is issued.
  struct Numbers {
    std::uint64_t inside = 0;
    std::uint64_t across = 0;
  };

  void reserve(int inside_count);
  std::vector<std::size_t> slice_counts(const Operation& op) const;
  Task all_reduce(const Operation& op, Numbers numbers);
  Task broadcast(const Operation& op, Numbers numbers);
  Task step(const Operation& whole, Backend* backend, const Operation& part);

  Parts parts_;
  std::uint64_t key_;
  std::vector<std::vector<int>> hosts_;  // members by host, as ranks of this group
  std::size_t places_ = 0;               // number of ranks on the smallest host
  std::size_t my_place_ = 0;             // local index of this rank on its host
  std::size_t my_host_ = 0;
  std::shared_ptr<Backend> inside_;  // null if this rank is the only one on its host
  std::shared_ptr<Backend> across_;  // null if the smallest host has no rank with this local index
  std::shared_ptr<MessageBackend> flat_;
  Numbers next_;
  struct Stage {
    Backend* backend;
    const Operation* op;
  };
  std::map<std::uint64_t, Stage> stages_;  // by sequence: the stage that the operation waits for
};

// Chooses a backend: shared memory if all members are on one host, messages if no two members share
// a host, both otherwise.
std::shared_ptr<Backend> make_backend(const HierarchicalBackend::Parts& parts,
                                      std::vector<int> members, int me, std::uint64_t key);

}  // namespace trireme::comm::hierarchy
