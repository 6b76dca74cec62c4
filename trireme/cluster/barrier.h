// Barrier: each of `size` ranks waits until all have come. It can be used again and again.
//
// Failure:  Deadline names the ranks that never came. A rank whose wait failed may wait again: it
//           still counts as arrived. A rank that died after it arrived counts as arrived too.
// Threads:  one thread at a time a Barrier object; each rank has its own.
// Lifetime: leaves at most two rounds' keys in the store.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster {

class Barrier {
 public:
  struct Options {
    std::string name{};
    int rank = 0;
    int size = 1;
  };

  // REQUIRES: 0 <= rank < size, and that all agree on name and size.
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
