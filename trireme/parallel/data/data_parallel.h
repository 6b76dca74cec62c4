// DataParallel is the agreement of ranks that run the same model and share the batch.
//
//   all_reduce  every rank has all parameters and all optimizer state, and updates everything
//   shared      one copy of both on the host, in memory that all ranks map; each updates a slice
//   zero1       every rank has all parameters, and the state and the update of one slice
//   zero2       the same, and gradients are kept as slices too
//   zero3       the same, and values are slices: in the host's one copy where ranks share memory,
//               elsewhere each rank has its own and gathers a block while it runs
//
// Slices may be cut inside parts of the group, with replicas across: the ranks of a host share what
// they hold, and the same slices of all hosts are added up over the network.
//
// Gradients go to their bucket as they are born; a full bucket's reduction runs while backward
// goes on. reduce() ends with a small all-reduce that no rank passes before all are there.
//
// Layout: buckets follow the order in which the first step's gradients arrived on rank 0.

#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/model/model.h"
#include "trireme/optim/optimizer.h"
#include "trireme/parallel/agree.h"
#include "trireme/parallel/data/bucket_plan.h"
#include "trireme/parallel/data/gradient_buckets.h"
#include "trireme/parallel/data/layout.h"
#include "trireme/parallel/gradient_hooks.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/sync_config.h"
#include "trireme/parallel/zero/gathering.h"

namespace trireme::parallel::data {

class DataParallel final : public Agreement, private model::GradientHomes {
 public:
  struct Options {
    std::vector<Parameter> parameters;
    std::vector<at::Tensor> buffers{};  // rank 0's are everybody's, from step to step
    std::shared_ptr<const optim::Optimizer> optimizer;
    comm::Group group;
    // Among whom slices are cut, and who has the same one elsewhere; all of them, and nobody.
    std::optional<comm::Group> inside{};
    comm::Group across = comm::Group::solo();
    std::shared_ptr<model::Model> model{};  // whose blocks zero3 gathers; null: all at once
    SyncKind kind = SyncKind::AllReduce;
    std::int64_t bucket_size = 4 << 20;  // bytes
    // Sums over slots follow the fixed tree, whoever runs which: each slot's gradient is kept.
    bool is_ordered = false;
    // A parameter's gradient may come in several parts: buckets wait for the end of backward.
    bool is_in_parts = false;
  };
  explicit DataParallel(Options options);
  ~DataParallel() override;

  void begin_step(const StepPlan& plan) override;
  void begin_slot(std::size_t index) override;
  void end_slot() override;
  Gradients reduce(const Share& mine) override;
  double total(double mine) override;
  void update(const Update& how) override;
  void drop() override;
  void settle() override;
  void check() override;
  // Sums in a fixed order are made of gradients that were, too.
  model::GradientHomes* homes() override { return options_.is_ordered ? nullptr : this; }
  std::vector<checkpoint::Piece> pieces() override;
  void restored() override;
  std::vector<checkpoint::Piece> collect() override;
  std::string first_not_finite() const override;

 private:
  bool is_sliced() const noexcept { return options_.kind != SyncKind::AllReduce; }
  bool is_one_copy() const noexcept;
  // Whether a bucket's memory goes back as soon as its slices are reduced.
  bool is_released() const noexcept {
    return (options_.kind == SyncKind::Zero2 || options_.kind == SyncKind::Zero3) &&
           !options_.is_ordered;
  }
  at::Tensor lend(const at::Tensor& parameter) override;
  bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                const at::Tensor& values) override;
  void born(std::size_t parameter);
  void lay_out(std::vector<std::size_t> order);
  BucketPlan plan_of(std::vector<std::size_t> order) const;
  void move_values();
  void make_gathering();
  bool is_streamed() const;
  void launch(std::size_t bucket);
  void poll();
  void finish_next();
  void launch_ordered(std::size_t bucket, const std::string& label);
  GradientBuckets& buckets_of(std::size_t slot);
  std::vector<optim::Slice> slices(double rate);
  std::vector<double> common_figures(const Share& mine);
  void publish();
  void finish_publishing();
  void broadcast_buffers();

  Options options_;
  comm::Group inside_;
  std::vector<int> groups_;                             // of parameters that are updated alike
  std::unordered_map<const void*, std::size_t> index_;  // of a parameter, by its tensor
  // By block: the parameters that it reads. Empty unless they are gathered block by block.
  std::vector<std::vector<std::size_t>> blocks_;
  std::unique_ptr<Layout> layout_;
  // One for all of this rank's slots; in ordered sums one for each.
  std::vector<std::unique_ptr<GradientBuckets>> buckets_;
  std::shared_ptr<zero::Gathering> gathering_;  // null where values are whole
  std::vector<std::size_t> arrival_;            // of the first step's gradients
  StepPlan plan_;
  std::size_t slot_ = 0;                    // that runs, of this rank's
  std::vector<bool> is_used_;               // by any rank, in this step
  std::vector<comm::TensorWork> works_;     // one a bucket, in order
  std::size_t finished_ = 0;                // of them
  std::vector<comm::TensorWork> crossing_;  // own slices of finished ones
  std::vector<comm::Work> ordered_;
  std::optional<comm::Work> published_;  // new values reach everybody
  std::vector<comm::TensorWork> gathers_;
  GradientHooks hooks_;
};

}  // namespace trireme::parallel::data
