// DataParallel synchronizes ranks that run the same model on different micro-batches and commit
// every step together. It is composed of independent parts:
//
//   Storage    where values and optimizer state lie: replicated, shared per host, or sharded
//   Reducer    how gradients are summed: all-reduce, reduce-scatter in one or two levels, or a
//              fixed tree; with or without a codec
//   Journal    what other ranks need to complete the update of a rank that died
//
// The recipe's strategies are combinations of them:
//
//   all_reduce  replicated storage, all-reduce
//   shared      storage shared per host, reduce-scatter, replicas across hosts
//   zero1       sharded state; zero2 also returns gradient memory; zero3 also shards values
//
// Gradients go to their bucket as backward produces them, and a full bucket is reduced while
// backward continues. New values reach other ranks bucket by bucket, too: a model of blocks runs a
// block as soon as its values are there.
//
// Layout:        buckets follow the order in which the first step's gradients arrived on rank 0.
// Thread safety: as GradientSync.

#pragma once

#include <memory>
#include <vector>

#include "trireme/model/model.h"
#include "trireme/optim/optimizer.h"
#include "trireme/parallel/data/composition.h"
#include "trireme/parallel/data/gradient/pass_hooks.h"
#include "trireme/parallel/data/journal/journal.h"
#include "trireme/parallel/data/model_buffers.h"
#include "trireme/parallel/data/plan/model_plan.h"
#include "trireme/parallel/data/race.h"
#include "trireme/parallel/data/reduce/gradient_reduction.h"
#include "trireme/parallel/data/storage/shard_updater.h"
#include "trireme/parallel/data/storage/storage.h"
#include "trireme/parallel/gradient_hooks.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel::data {

class DataParallel : public GradientSync, protected CommonModel, protected SavedState {
 public:
  struct Options {
    std::vector<Parameter> parameters;
    std::vector<at::Tensor> buffers{};
    std::shared_ptr<const optim::Optimizer> optimizer;
    std::optional<comm::Group> commit_group{};  // see SyncOptions
    CommitFlags flags{};                        // likewise
    // Its blocks wait for their values, and zero3 gathers them one by one; between steps nothing
    // may read them without settle(). Null: all values are needed at once.
    std::shared_ptr<model::Model> model{};
    Composition composition{};
    Placement placement{};  // elastic: only its group of all ranks is used, until regroup()
    GradientReduction::Coding coding{};
    std::int64_t bucket_size = 4 << 20;  // bytes
    bool has_whole_shards = false;  // shards end between parameters, whatever the optimizer needs
    std::optional<at::ScalarType> narrow_type{};  // in which passes read weights
    Faults* faults = nullptr;
  };
  explicit DataParallel(Options options);

  void begin_step(const StepPlan& plan) override;
  bool begin_micro_batch(std::size_t index) override;
  void end_micro_batch() override;
  void finish_reduction() override;
  void update(const Update& how) override;
  void drop() override;
  PassServices passes() override;
  Roles roles() override { return {commit_, *this, *this}; }

 protected:
  // Which shard each rank updates, from one change of the group to the next.
  struct Cut {
    std::vector<int> places;  // by rank: its place in the arena
    int rank = 0;             // this rank's
    int ranks = 1;
  };

  void lay_out(const Blueprint& blueprint, bool is_attached);
  // The layout is complete, in the middle of a step or between two.
  virtual void on_laid_out() {}
  void cut_shards();
  void make_race();
  bool is_lost() const;
  void throw_if_lost() const;
  void finish_publishing();
  void mark_finished();
  ShardUpdater::Shard own_shard() const;

  Options options_;
  const Composition& composition_ = options_.composition;
  Placement& placement_ = options_.placement;
  ModelPlan model_;
  Blueprint blueprint_;               // of the layout
  std::unique_ptr<Storage> storage_;  // null before the first layout
  std::unique_ptr<MicroBatchGradients> gradients_;
  GradientReduction reduction_;
  ShardUpdater updater_;
  ModelBuffers buffers_;
  Journal journal_;
  StepCommit commit_;
  Cut cut_;
  StepPlan plan_;

 private:
  void settle() override;
  void check() override;
  std::string first_not_finite(bool has_gradients) const override;
  std::vector<checkpoint::Piece> pieces() override;
  void restored() override;
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;

  void on_gradient(std::size_t parameter);
  void launch(std::size_t bucket);
  void lay_out_by(const std::vector<std::size_t>& order);
  std::unique_ptr<Storage> make_storage(const Blueprint& blueprint) const;
  std::unique_ptr<MicroBatchGradients> make_gradients();
  void open_journal();
  void throw_if_late();
  void withdraw();
  double squared_norm() const;

  std::vector<std::size_t> arrival_;  // of the first step's gradients
  std::size_t micro_batch_ = 0;       // that runs, among this rank's
  std::unique_ptr<Race> race_;        // null: no rank is ever left out
  bool is_left_out_ = false;          // this rank, in this step: it threw Late
  PassHooks passes_;
  GradientHooks hooks_;
};

}  // namespace trireme::parallel::data
