// FlatModel copies a model's parameters, or this rank's parts of them, to flat tensors in the order
// of a BucketPlan, and sums such tensors over ranks in a few buckets.
//
// Values are sent unchanged or encoded by a codec; all ranks receive bitwise identical sums.
//
// Errors:        what Group throws.
// Thread safety: one thread at a time. launch(), finish() and sum() are collectives.

#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "trireme/codec/codec.h"
#include "trireme/comm/group.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/data/coded/coded_sum.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::local {

class FlatModel {
 public:
  struct Options {
    std::vector<Parameter> parameters{};  // or this rank's parts of them
    comm::Group group = comm::Group::solo();
    // The ranks that hold the other parts. A codec with joint selection (Codec::joint) chooses the
    // elements to send among the parts of all of them.
    comm::Group beside = comm::Group::solo();
    std::int64_t bucket_size = 4 << 20;           // bytes
    std::shared_ptr<const codec::Codec> codec{};  // null: values are sent unchanged
    std::int64_t codec_begin = 0;                 // the first step or round with a codec
    bool has_error_feedback = true;
    bool is_mean = false;  // sums are divided by the number of ranks
    std::uint64_t seed = 0;
    bool is_elastic = false;
    bool can_drop = false;  // undo() may be called
  };
  explicit FlatModel(Options options);

  // A flat tensor of zeros.
  at::Tensor make() const;
  // The view of a parameter in a flat tensor, with the parameter's shape.
  at::Tensor at(const at::Tensor& flat, std::size_t parameter) const;
  void read_values(const at::Tensor& flat) const;
  void write_values(const at::Tensor& flat) const;
  // Of the parameters that this rank is the first holder of.
  double squared_norm(const at::Tensor& flat) const;
  std::vector<checkpoint::Piece> pieces(const at::Tensor& flat, const std::string& state) const;
  // Whether a checkpoint holds this state of any parameter.
  bool has_some(const std::string& state, const checkpoint::Checkpoint& from) const;
  // Reads `flat` from a checkpoint. False, and nothing changes, if the checkpoint does not hold
  // this state of all parameters.
  bool restore(const at::Tensor& flat, const std::string& state,
               const checkpoint::Checkpoint& from) const;

  // Begins to replace `flat` by its sum over ranks. `number`: of the step or round. Only one sum
  // may be in flight.
  void launch(const at::Tensor& flat, std::int64_t number);
  // Makes progress without waiting.
  void poll();
  // Waits for the sum.
  void finish();
  void sum(const at::Tensor& flat, std::int64_t number) {
    launch(flat, number);
    finish();
  }
  // All ranks have the last sum, so the codec's residuals of it become final.
  void commit();
  // The last sum is not used, so the residuals are as they were before it.
  void undo();
  // Gives up the sum in flight.
  void forget();
  // Uses this group from now on. The caller launches a sum that was given up again, with the same
  // number.
  void regroup(const comm::Group& group);
  // The traffic of the last sum.
  Traffic traffic() const noexcept { return traffic_; }

  std::optional<data::CodedSum>& exchange() noexcept { return exchange_; }
  const std::vector<Parameter>& parameters() const noexcept { return options_.parameters; }

 private:
  at::Tensor bucket_of(const at::Tensor& flat, std::size_t bucket) const;

  Options options_;
  data::BucketPlan plan_;
  std::optional<data::CodedSum> exchange_;
  bool is_coded_ = false;  // the sum in flight uses the codec
  std::vector<comm::TensorWork> works_;
  std::size_t finished_ = 0;
  Traffic traffic_;
};

}  // namespace trireme::parallel::local
