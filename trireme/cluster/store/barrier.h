// Barrier: each of `size` ranks waits until all ranks have arrived. It can be used any number of
// times.
//
// Errors:        Deadline, listing the ranks that did not arrive. A rank whose wait failed may wait
//                again; it still counts as arrived. So does a rank that died after it arrived.
// Thread safety: one thread at a time per Barrier object; each rank has its own object.
// Lifetime:      leaves the keys of at most two rounds in the store.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster {

class Barrier {
 public:
  struct Options {
    std::string name{};
    int rank = 0;
    int size = 1;
  };

  // REQUIRES: 0 <= rank < size, and the same name and size on every rank.
  Barrier(Store& store, Options options);

  void wait(Deadline deadline);

 private:
  std::string round_key(std::uint64_t round) const;
  void arrive(const std::string& round, Deadline deadline);
  [[noreturn]] void throw_who_is_missing(const std::string& round, Duration waited);
  std::vector<int> missing_in(const std::string& round, Deadline deadline);
  void clear(const std::string& round, Deadline deadline) noexcept;

  Store& store_;
  const Options options_;
  std::uint64_t round_ = 0;
};

}  // namespace trireme::cluster
