// ElasticDataParallel is DataParallel for jobs whose ranks die, leave and join: it completes the
// step that a death interrupted, or keeps the gradients that can be used again, and hands the state
// to new ranks.
//
// Where ranks of a host share memory there is one copy of values and state on the host, whatever
// the strategy, so that a shard survives the rank that updates it. On several hosts every host
// holds all shards, so that a whole host can be lost.
//
// Thread safety: as GradientSync.

#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/elastic_sync.h"

namespace trireme::parallel::data {

class ElasticDataParallel final : public DataParallel, public ElasticSync {
 public:
  // REQUIRES: an elastic composition.
  explicit ElasticDataParallel(Options options) : DataParallel(std::move(options)) {}

  void update(const Update& how) override;
  void drop() override;

  // For strategies that build on this one: a number that this rank records until its next step
  // begins, before it changes shared memory, and the largest that any rank of this host recorded,
  // dead or alive. REQUIRES: storage shared per host.
  void mark(std::int64_t number) { journal_.set_mark(number); }
  std::int64_t last_mark() const { return journal_.last_mark(); }

  bool keeps_micro_batches() const override { return composition_.keeps_finished(); }
  void survive(const comm::Group& group, std::vector<int> places) override;
  void finish_failed_ranks() override;
  void regroup(bool is_new) override;

 private:
  // What a rank brings to a new group, least first.
  enum class Having : std::uint8_t { Nothing, FirstValues, Values, Layout };

  bool are_pieces_spare() const override {
    return placement_.is_uneven && placement_.host_index > 0;
  }
  Having having(bool is_new) const;
  void on_laid_out() override;
  void update_failed_ranks(const Update& how);
  void share_layout(int source, std::span<const std::uint8_t> having);
  void share_spaces(int source, std::span<const std::uint8_t> having);
  void regroup_codec();
  void inherit_residuals();
  std::int64_t last_counted_step() const;

  std::optional<Update> made_;       // in the last step; empty if that was dropped
  bool is_surviving_ = false;        // from survive() to regroup()
  bool has_state_ = false;           // this rank has values that all ranks share
  bool is_codec_regrouped_ = false;  // it works with the group of this epoch
};

}  // namespace trireme::parallel::data
