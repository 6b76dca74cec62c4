// Roster is who takes part in one epoch of a job: what each rank said about itself when they met.
// Every rank holds the same one, byte for byte.
//
// Hosts: ranks are grouped by the host id they claim. That two ranks share a host is only a
//        candidate; that they share memory is proven later, by their life pages.
// Failure: decoding throws Protocol for bytes that encode() does not make.
// Threads: a value; reading it from any thread is safe.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/memory_file.h"

namespace trireme::cluster {

struct Member {
  int rank = 0;
  int size = 1;             // of the job, as this rank was told
  std::string host{};       // see host_id.h
  std::string host_name{};  // for people
  std::string build{};      // base::build_info().build_id
  std::string job_hash{};   // of what must be equal on all ranks, such as the recipe
  std::int32_t pid = 0;
  std::int32_t cores = 0;                // that this rank may use
  MemoryFile::Proof life{};              // of its life page; descriptor -1: it has none
  std::vector<std::string> addresses{};  // where it listens, if anywhere
};

Bytes encode(const Member& member);
Member decode_member(ByteView bytes);

class Roster {
 public:
  // REQUIRES: as many members as each says the job has, one a rank, in the order of ranks.
  Roster(std::uint64_t epoch, std::vector<Member> members);

  std::uint64_t epoch() const noexcept { return epoch_; }
  int size() const noexcept { return static_cast<int>(members_.size()); }
  const Member& member(int rank) const;
  std::span<const Member> members() const noexcept { return members_; }

  // The ranks that claim the same host, one list a host, in the order of their first ranks.
  const std::vector<std::vector<int>>& hosts() const noexcept { return hosts_; }
  // Index into hosts().
  int host_of(int rank) const;
  // This rank and its neighbours, ascending.
  const std::vector<int>& ranks_beside(int rank) const;

 private:
  std::uint64_t epoch_;
  std::vector<Member> members_;
  std::vector<std::vector<int>> hosts_;
  std::vector<int> host_of_;
};

// Texts that many members share are written once: 1,000 ranks of one host take 60 KB, not 200.
Bytes encode(const Roster& roster);
Roster decode_roster(ByteView bytes);

}  // namespace trireme::cluster
