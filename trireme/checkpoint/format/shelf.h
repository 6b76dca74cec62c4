// Shelf is a folder of finished checkpoints, owned by the one process that may change it. It
// publishes new checkpoints and removes old ones.
//
// Retention:     keeps the last few and the best few. A checkpoint that cannot be read is never
//                removed; it is set aside when a new checkpoint takes its name.
// Errors:        InvalidInput, naming the process, if another job has the folder open. Aborted if a
//                later epoch of this job holds the folder (see FolderLock). Exhausted if the disk
//                is full; existing checkpoints do not change.
// Thread safety: one thread at a time.
// Lifetime:      the lock is released with the object.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::checkpoint::format {

// Which checkpoints remain after a new one was written: the last few and the best few.
struct Retention {
  int keep_last = 3;  // 0: keep all
  int keep_best = 1;  // by score; the earlier of two equal scores
  bool is_higher_better = false;
};

struct Scored {
  std::int64_t step = 0;
  std::optional<double> score{};  // NaN counts as no score
};

// The steps to remove, ascending. The newest step is never among them.
std::vector<std::int64_t> steps_to_remove(std::vector<Scored> held, const Retention& retention);

class Shelf {
 public:
  struct Options {
    std::filesystem::path folder;
    FolderLock::Writer writer{};
    Retention retention{};
    std::optional<net::Secret> key{};  // key that signs new manifests
    ReadOptions reading{};             // of existing checkpoints
    // Whether the score saved with this meta is comparable with future scores. Empty: all scores
    // are comparable.
    std::function<bool(const std::string& meta)> is_score_alike{};
    Faults* faults = nullptr;
    int rank = 0;  // rank that the fault points report
  };
  explicit Shelf(Options options);

  // Publishes the draft as the manifest's step, then applies the retention.
  void put(const std::filesystem::path& draft, const Manifest& manifest);

  // Removes the checkpoints after `step`, for a job that restarts from `step`. Checkpoints that
  // cannot be read remain.
  void remove_after(std::int64_t step);

  // Stops counting a damaged checkpoint and renames it, so that it can be inspected.
  void set_aside(std::int64_t step);

  // Removes all drafts except the spared ones; returns the removed drafts.
  std::vector<Draft> sweep(const std::function<bool(const Draft&)>& is_spared) {
    return sweep_drafts(lock_, is_spared);
  }

  std::int64_t epoch() const noexcept { return lock_.epoch(); }
  void expect_held() const { lock_.expect_held(); }

 private:
  bool is_held(std::int64_t step) const;
  void forget(std::int64_t step);
  void retire();

  Options options_;
  FolderLock lock_;
  std::vector<Scored> held_;
};

}  // namespace trireme::checkpoint::format
