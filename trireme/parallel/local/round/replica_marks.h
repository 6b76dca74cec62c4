// ReplicaMarks is the journal of a replica that the ranks of a host hold together: a number per
// rank in their shared memory, which a rank writes before it changes that memory (see RoundAction).
// The others find in it that a step was prepared, or which action the failed rank had begun to
// write.
//
// If each rank has a replica of its own, nothing is recorded: what only a failed rank knew is
// useless, because its replica is lost, too.
//
// Thread safety: as CommitJournal.

#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "trireme/parallel/commit_journal.h"
#include "trireme/parallel/data/elastic_data_parallel.h"
#include "trireme/parallel/local/round/round_action.h"

namespace trireme::parallel::local {

// The mark of a prepared step also holds whether each of the five figures of its vote is 0.
inline std::int64_t mark_of(const Prepared& prepared) {
  std::int64_t mark = RoundAction{.step = prepared.step, .occasion = Occasion::Prepare}.mark();
  for (std::size_t i = 0; i < prepared.figures.size(); ++i) {
    if (prepared.figures[i] != 0) mark |= std::int64_t{1} << i;
  }
  return mark;
}

// Step -1 if the mark is not that of a prepared step.
inline Prepared prepared_of(std::int64_t mark) {
  constexpr int kVoteFigures = 5;
  Prepared prepared{.step = (mark >> 16) - 1};
  if (mark_of(prepared) != (mark & ~std::int64_t{255})) return {};
  for (int i = 0; i < kVoteFigures; ++i) prepared.figures.push_back((mark >> i & 1) != 0 ? 1 : 0);
  return prepared;
}

class ReplicaMarks final : public CommitJournal {
 public:
  // `host` synchronizes the ranks of this replica; null: there is one rank.
  explicit ReplicaMarks(std::shared_ptr<data::ElasticDataParallel> host) : host_(std::move(host)) {}

  void begin(std::int64_t) override { last_ = 0; }
  void prepare(const Prepared& prepared) override { set(mark_of(prepared)); }
  void finish() override {}
  std::vector<double> prepared(std::int64_t step) const override {
    const Prepared last = prepared_of(last_);
    return last.step == step ? last.figures : std::vector<double>{};
  }

  void set(std::int64_t mark) {
    if (host_) host_->mark(mark);
  }
  // Ranks failed: reads their marks. REQUIRES: all live ranks have stopped.
  void read() {
    if (host_) last_ = std::max(last_, host_->last_mark());
  }
  // Whether any rank of this host had begun to write this action when it was last read.
  bool has_begun(const RoundAction& action) const { return last_ == action.mark(); }

 private:
  std::shared_ptr<data::ElasticDataParallel> host_;
  std::int64_t last_ = 0;
};

}  // namespace trireme::parallel::local
