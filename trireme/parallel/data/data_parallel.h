// DataParallel is the agreement of ranks that run the same model and share the batch.
//
//   all_reduce  every rank has all parameters and all optimizer state, and updates everything
//   shared      one copy of both on the host, in memory that all ranks map; each updates a slice
//   zero1       every rank has all parameters, and the state and the update of one slice
//   zero2       the same, and gradients are kept as slices too
//   zero3       the same, and values are slices: each rank gathers a block while it runs
//
// Where all ranks that cut slices share memory, the zero kinds keep one copy there too: a slice
// that a rank alone would hold is then at hand for whoever has to go on without that rank.
//
// Slices may be cut inside parts of the group, with replicas across: the ranks of a host share what
// they hold, and the same slices of all hosts are added up over the network. Where ranks come and
// go on several hosts they always are: what a host holds goes with it, and others have it too.
//
// Gradients go to their bucket as they are born; a full bucket's reduction runs while backward
// goes on. reduce() ends with a small all-reduce that no rank passes before all are there. New
// values, too, reach the others bucket by bucket: a model of blocks goes forward as soon as what
// its first block reads is there.
//
// Layout: buckets follow the order in which the first step's gradients arrived on rank 0.

#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/model/layer/low_precision_weights.h"
#include "trireme/model/model.h"
#include "trireme/optim/optimizer.h"
#include "trireme/parallel/data/bucket_plan.h"
#include "trireme/parallel/data/coded_sum.h"
#include "trireme/parallel/data/gradient_buckets.h"
#include "trireme/parallel/data/layout.h"
#include "trireme/parallel/data/ledger.h"
#include "trireme/parallel/data/publishing.h"
#include "trireme/parallel/data/race.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/gradient_hooks.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/sync_config.h"
#include "trireme/parallel/zero/gathering.h"

namespace trireme::parallel::data {

inline constexpr FaultPoint kPrepared{"step.prepared"};  // and nothing is updated

class DataParallel final : public GradientSync,
                           public ElasticSync,
                           private model::GradientBuffers,
                           private model::LowPrecisionWeights,
                           private model::Interruption {
 public:
  struct Options {
    std::vector<Parameter> parameters;
    std::vector<at::Tensor> buffers{};  // rank 0's are everybody's, from step to step
    std::shared_ptr<const optim::Optimizer> optimizer;
    comm::Group group;
    // Among whom slices are cut, and who has the same one elsewhere; all of them, and nobody.
    std::optional<comm::Group> inside{};
    comm::Group across = comm::Group::solo();
    // Whose blocks zero3 gathers, and wait for new values: nobody reads them between steps without
    // settle(). Null: all at once.
    std::shared_ptr<model::Model> model{};
    SyncKind kind = SyncKind::AllReduce;
    std::int64_t bucket_size = 4 << 20;  // bytes
    // What buckets, or slices of them, travel as, from this step on; null: as they are. With
    // replicas across, what travels between them: inside one ranks add up exactly.
    std::shared_ptr<const codec::Codec> codec{};
    std::int64_t codec_begin = 0;
    bool has_error_feedback = true;
    bool is_cut_between = false;  // whether slices end between parameters, whatever the rule
    std::uint64_t seed = 0;       // of the codec's roundings
    // Sums over slots follow the fixed tree, whoever runs which: each slot's gradient is kept.
    bool is_ordered = false;
    // A parameter's gradient may come in several parts: buckets wait for the end of backward.
    bool is_in_parts = false;
    // The type in which passes read weights; where there is one copy of them, there is one of this.
    std::optional<at::ScalarType> narrow_type{};
    // Steps may go on without slow ranks. REQUIRES: SyncKind::AllReduce, no ordered sums.
    bool can_leave_out = false;
    // Ranks may come and go. Nobody meets anybody then before survive() and regroup().
    bool is_elastic = false;
    bool is_spread = false;  // and they may be on several hosts
    // Where they do, gradients of slots stay until the step is over, for whoever has to run it
    // again: all_reduce has them beside their sums then, zero2 and zero3 whole.
    bool keeps_gradients = true;
    Faults* faults = nullptr;
  };
  explicit DataParallel(Options options);
  ~DataParallel() override;

  void begin_step(const StepPlan& plan) override;
  bool has_micro_batch(int micro_batch) const override;
  void begin_micro_batch(std::size_t index) override;
  void end_micro_batch() override;
  Gradients reduce(const Share& mine) override;
  void leave_out() override;
  double total(double mine) override;
  void update(const Update& how) override;
  void drop() override;
  void settle() override;
  void check() override;
  // Sums in a fixed order are made of gradients that were, too.
  model::GradientBuffers* homes() override { return options_.is_ordered ? nullptr : this; }
  const model::LowPrecisionWeights* copies() const override {
    return has_copies() ? this : nullptr;
  }
  double waited() const override;
  // In ordered sums a slot that runs is worth its time: it stays.
  const model::Interruption* interruption() const override {
    return race_ || (is_elastic() && !options_.is_ordered) ? this : nullptr;
  }
  std::vector<checkpoint::Piece> pieces() override;
  void restored() override;
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  bool are_pieces_spare() const override { return is_uneven_ && host_ > 0; }
  std::string first_not_finite() const override;

  // For whoever makes more of this one's ranks than an agreement of their own: what a rank notes in
  // its page until its next step begins, before it changes what they share; and the most that any
  // of those who shared it has noted, dead or alive. REQUIRES: is_elastic, one copy.
  void mark(std::int64_t what);
  std::int64_t last_mark() const;

  StepStatus step_status() const override { return status_; }
  bool keeps_micro_batches() const override;
  void survive(const comm::Group& group, std::vector<int> places) override;
  std::optional<Gradients> recall(std::int64_t step, std::span<const Prepared> told) override;
  void finish_failed_ranks() override;
  void regroup(bool is_new) override;

 private:
  // What all ranks lay out alike.
  struct Blueprint {
    std::vector<std::int64_t> order;  // of parameters
    std::vector<std::int64_t> names;  // of common memory: as lay_out.cpp says
  };
  // Who updates which slice: seats by rank, and this rank among them.
  struct Cut {
    std::vector<int> places;
    int rank = 0;
    int size = 1;
    int replicas = 1;  // of each slice
  };

  bool is_sliced() const noexcept { return options_.kind != SyncKind::AllReduce; }
  bool is_one_copy() const noexcept;
  // Whether a slice of a bucket may not cut a parameter.
  bool has_whole_parameters() const noexcept {
    return options_.is_cut_between || options_.optimizer->grain() == optim::Grain::WholeTensor;
  }
  // Whether a bucket's memory goes back as soon as its slices are reduced.
  bool is_released() const noexcept {
    return (options_.kind == SyncKind::Zero2 || options_.kind == SyncKind::Zero3) &&
           !options_.is_ordered && !(is_elastic() && options_.keeps_gradients);
  }
  // Whether sums of whole buckets have memory of their own.
  bool is_sum_apart() const noexcept {
    return !is_sliced() && !options_.is_ordered && is_elastic() && options_.keeps_gradients;
  }
  bool has_copies() const noexcept { return layout_ && layout_->copies.memory.defined(); }
  at::Tensor copy_of(const at::Tensor& parameter) const override;
  at::Tensor lend(const at::Tensor& parameter) override;
  bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                const at::Tensor& values) override;
  void on_gradient(std::size_t parameter);
  static constexpr int kEmpty = -1;            // no slot
  static constexpr std::size_t kReported = 4;  // where reported sums begin in the figures
  // That ranks add up, besides one a parameter.
  static constexpr std::size_t kFigures = kReported + ReportedSums{}.size();

  bool is_elastic() const noexcept { return options_.is_elastic; }
  Blueprint draw(const std::vector<std::size_t>& order) const;
  void lay_out(std::vector<std::size_t> order);
  void lay_out(const Blueprint& blueprint, bool is_attached);
  BucketPlan plan_of(const std::vector<std::int64_t>& order) const;
  Ledger::Shape ledger_shape() const;
  void make_spaces(Layout& layout, const std::vector<std::int64_t>& names);
  void cut_slices();
  void reopen(int count_before);
  void keep_filled(int count_before);
  void keep_ordered(const std::vector<int>& filled);
  bool has_none() const;
  std::size_t last_to_run() const;
  void begin_buffers();
  std::vector<at::Tensor> copied_buffers() const;
  void take_buffers_back(const std::vector<at::Tensor>& values);
  void throw_if_lost() const;
  void throw_if_pointless() const override;
  void tell_left_out(const Share& mine, Gradients& all);
  void mark_prepared(std::span<const double> figures);
  void mark_finished();
  Gradients take_figures(std::span<const double> figures);
  std::vector<int> successors() const;
  void update_failed_ranks(const Update& how);
  void inherit_residuals();
  void meet_hosts(const std::vector<int>& places);
  std::vector<double> find_figures(std::int64_t step, std::span<const Prepared> told) const;
  void share_figures(std::int64_t step, std::vector<double>& figures) const;
  void share_layout(int source, std::span<const std::uint8_t> having);
  void share_spaces(int source, std::span<const std::uint8_t> having);
  static void share(const comm::Group& group, int source, const std::vector<at::Tensor>& tensors);
  void move_values(bool is_attached);
  void make_gathering();
  void make_publishing();
  std::vector<std::vector<std::size_t>> needs_of_blocks() const;
  bool is_streamed() const;
  bool is_coded_now() const noexcept { return exchange_ && plan_.step >= options_.codec_begin; }
  Traffic plain_traffic() const;
  // Whether ranks come and go on several hosts, each of which has all slices.
  bool is_in_hosts() const noexcept { return is_elastic() && options_.is_spread && is_sliced(); }
  // Whether buckets are, on their way to whoever sums them up, or what hosts have of them.
  bool is_crossing() const noexcept {
    return is_sliced() && (is_in_hosts() ? firsts_.size() > 1 : options_.across.size() > 1);
  }
  bool is_coded() const noexcept { return !is_crossing() && !is_in_hosts() && is_coded_now(); }
  bool is_crossing_coded() const noexcept { return is_crossing() && is_coded_now(); }
  std::size_t launched() const noexcept {
    return is_coded() ? exchange_->launched() : works_.size();
  }
  bool is_done(std::size_t bucket) {
    return is_coded() ? exchange_->is_done(bucket) : works_[bucket].is_done();
  }
  void launch(std::size_t bucket);
  void poll();
  void finish_next();
  void cross(std::size_t bucket);
  void make_exchange();
  std::unique_ptr<CodedSum> make_sum() const;
  void meet_again();
  void launch_ordered(std::size_t bucket, const std::string& label);
  GradientBuckets& buckets_of(std::size_t micro_batch);
  // Of the rank of the cut.
  std::vector<optim::Slice> slices(double rate, int rank);
  std::vector<optim::Slice> slices(double rate, int rank, std::size_t bucket);
  void update_buckets(const Update& how);
  void update_elastic(const Update& how);
  void write_copies(int rank);
  void write_copy(std::size_t bucket, int rank);
  ElementRange own_of(std::size_t bucket, int rank) const;
  std::vector<double> common_figures(const Share& mine);
  void publish();
  void publish(std::size_t bucket);
  void finish_publishing();
  void broadcast_buffers();

  Options options_;
  comm::Group inside_;
  std::vector<int> groups_;                             // of parameters that are updated alike
  std::unordered_map<const void*, std::size_t> index_;  // of a parameter, by its tensor
  // By block: the parameters that it reads. Empty where some parameter is in none.
  std::vector<std::vector<std::size_t>> blocks_;
  std::unique_ptr<Layout> layout_;
  // One for all of this rank's slots; in ordered sums one for each.
  std::vector<std::unique_ptr<GradientBuckets>> buckets_;
  std::shared_ptr<zero::Gathering> gathering_;  // null where values are whole
  std::shared_ptr<Publishing> publishing_;      // with the layout
  std::vector<std::size_t> arrival_;            // of the first step's gradients
  StepPlan plan_;
  std::size_t micro_batch_ = 0;             // that runs, of this rank's
  std::vector<bool> is_used_;               // by any rank, in this step
  std::unique_ptr<Race> race_;              // where ranks may be left out
  bool is_left_out_ = false;                // this one, in this step
  std::unique_ptr<CodedSum> exchange_;      // where buckets are encoded, or slices of them
  bool is_exchange_met_ = false;            // it is of this group
  std::vector<comm::TensorWork> works_;     // one a bucket, in order
  std::size_t finished_ = 0;                // of them
  std::vector<comm::TensorWork> crossing_;  // own slices of finished ones
  std::size_t crossed_ = 0;                 // of those that are encoded
  std::vector<comm::Work> ordered_;
  std::vector<int> filled_;        // by this rank's slots: the slot where its gradients are there
  bool is_mixed_ = false;          // gradients of a slot that has not ended are among them
  Blueprint blueprint_;            // of the layout
  std::vector<int> beside_;        // by rank of inside_: ranks of the group
  std::vector<int> places_;        // likewise: seats in the arena
  std::vector<int> firsts_ = {0};  // by host: its first rank of the group
  int host_ = 0;                   // this rank's
  bool is_uneven_ = false;         // hosts have unequal numbers of ranks
  at::Tensor sums_;                // of all ranks, where they have
  Cut cut_;
  StepStatus status_;
  std::optional<Update> made_;  // in the last step; nothing where that was dropped
  std::optional<Ledger> ledger_;
  std::optional<Ledger::Page> page_;             // this rank's
  bool is_surviving_ = false;                    // from survive() to regroup()
  bool has_state_ = false;                       // values that all ranks share
  std::vector<at::Tensor> first_buffers_;        // as they were when the step began
  std::vector<at::Tensor> micro_batch_buffers_;  // and when its last slot ended that did
  GradientHooks hooks_;
};

}  // namespace trireme::parallel::data
