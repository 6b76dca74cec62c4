// Roster lists the members of one epoch of a job in the order of their ranks: what each reported
// about itself when it joined. Every rank holds the same roster.
//
// Hosts:         ranks are grouped by the host id that they report. Equal ids only suggest that two
//                ranks share a host; their life pages later prove that they share memory.
// Errors:        decoding throws Protocol for bytes that encoding does not produce.
// Thread safety: a value; reading it from any thread is safe.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/file/memory_file.h"
#include "trireme/cluster/variables.h"

namespace trireme::cluster {

// What a process does in its job. Each role has its own epochs: see membership/role_store.h.
enum class Role : std::uint8_t { Worker, Server };

inline constexpr int kRoleCount = 2;

std::string_view name_of(Role role) noexcept;

struct Member {
  Role role = Role::Worker;
  int rank = 0;
  int size = 0;             // of the job, as this rank was told; 0: it changes
  std::string host{};       // see host_id.h
  std::string host_name{};  // for display
  std::string build{};      // base::build_info().build_id
  std::string job_hash{};   // hash of what must be equal on all ranks, such as the recipe
  std::int32_t pid = 0;
  std::int32_t cores = 0;    // that this rank may use
  MemoryFile::Proof life{};  // of its life page; descriptor -1: it has none
};

Bytes encode(const Member& member);
Member decode_member(ByteView bytes);

// Strings that many members share are written once: 1,000 ranks on one host take 60 KB instead of
// 200.
void write_members(ByteWriter& out, std::span<const Member* const> members);
std::vector<Member> read_members(ByteReader& in);

// What this process can say about itself: host, build, pid and cores.
Member describe_process(const Lookup& lookup);

class Roster {
 public:
  // REQUIRES: one member per rank, in the order of ranks.
  Roster(std::uint64_t epoch, std::vector<Member> members);

  std::uint64_t epoch() const noexcept { return epoch_; }
  int size() const noexcept { return static_cast<int>(members_.size()); }
  const Member& member(int rank) const;
  std::span<const Member> members() const noexcept { return members_; }

  // The ranks that report the same host, one list per host, ordered by the first rank of each list.
  const std::vector<std::vector<int>>& hosts() const noexcept { return hosts_; }
  // Index into hosts().
  int host_of(int rank) const;
  // This rank and the other ranks on its host, ascending.
  const std::vector<int>& ranks_beside(int rank) const;

 private:
  std::uint64_t epoch_;
  std::vector<Member> members_;
  std::vector<std::vector<int>> hosts_;
  std::vector<int> host_of_;
};

}  // namespace trireme::cluster
