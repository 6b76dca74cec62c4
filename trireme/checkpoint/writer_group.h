// WriterGroup is the group of ranks that write one checkpoint together, and this rank's index in
// it. Each rank writes its own pieces; the ranks communicate only through the draft's folder. Rank
// 0 waits for all parts, writes the manifest and manages the folder.
//
// Thread safety: a value.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trireme::checkpoint {

struct WriterGroup {
  int rank = 0;
  int ranks = 1;
  // The same on all ranks of the group and never used by another group, so that the drafts of two
  // groups cannot mix. Letters, digits and '-'. Empty, for a group of one rank: chosen at random.
  std::string tag{};
  // Membership epoch of the job: rank 0 of a later epoch takes the folder from rank 0 of an earlier
  // one.
  std::int64_t epoch = 0;
  // The numbers of an elastic job's workers, by rank. Messages name a worker instead of a rank.
  std::vector<int> workers{};

  // As messages call it: "rank 1" or "worker 3".
  std::string name_of(int writer) const {
    if (workers.empty()) return "rank " + std::to_string(writer);
    return "worker " + std::to_string(workers.at(static_cast<std::size_t>(writer)));
  }
};

}  // namespace trireme::checkpoint
