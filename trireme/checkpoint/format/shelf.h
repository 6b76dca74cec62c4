// Shelf is a folder of finished checkpoints in the hands of the one process that may change it: it
// puts new ones there and removes those that need not be kept.
//
// Kept:     the last few and the best few. What cannot be read is never removed: it is set aside
//           where a new one takes its name.
// Failure:  a folder that another Shelf has open is InvalidInput, with its process. Exhausted for
//           a full disk; what was there stays as it was.
// Threads:  one at a time.
// Lifetime: the folder's lock goes with the object.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/checkpoint/format/retention.h"

namespace trireme::checkpoint::format {

class Shelf {
 public:
  struct Options {
    std::filesystem::path folder;
    Retention retention{};
    // Whether the score beside this meta may be compared with those to come; empty: every one may.
    std::function<bool(const std::string& meta)> is_score_alike{};
    Faults* faults = nullptr;
    int rank = 0;  // of whom the fault points speak
  };
  explicit Shelf(Options options);

  // Publishes the draft under the manifest's step, then removes what need not be kept.
  void put(const std::filesystem::path& draft, const Manifest& manifest);

  // Removes checkpoints of later steps: a job that goes back to `step` has no such future. Those
  // that cannot be read stay.
  void remove_after(std::int64_t step);

  // Takes a damaged checkpoint out of the count and renames it, for people to look at.
  void set_aside(std::int64_t step);

 private:
  bool is_held(std::int64_t step) const;
  void forget(std::int64_t step);
  void retire();

  Options options_;
  FolderLock lock_;
  std::vector<Scored> held_;
};

}  // namespace trireme::checkpoint::format
