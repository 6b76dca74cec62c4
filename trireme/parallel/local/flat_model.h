// FlatModel is a model's parameters, or this rank's parts of them, end to end in the order of a
// BucketPlan, in tensors that hold a copy of them: what replicas send each other travels as a few
// buckets.
//
// Sums go as they are, or as what a codec makes of them; all ranks come to the same bits.
//
// Threads: one. The sums are collectives.

#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "trireme/codec/codec.h"
#include "trireme/comm/group.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/data/coded_all_reduce.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::local {

class FlatModel {
 public:
  struct Options {
    std::vector<Parameter> parameters{};
    // By parameter, where they are parts: of what, and from where on.
    std::vector<checkpoint::Piece> parts{};
    comm::Group group = comm::Group::solo();
    // Who holds the other parts: a codec that can chooses among all of them what is sent.
    comm::Group beside = comm::Group::solo();
    std::int64_t bucket_size = 4 << 20;           // bytes
    std::shared_ptr<const codec::Codec> codec{};  // null: as they are
    std::int64_t codec_begin = 0;                 // before this number, as they are
    bool has_error_feedback = true;
    bool is_mean = false;  // sums are divided by the number of ranks
    std::uint64_t seed = 0;
    bool is_elastic = false;  // see CodedAllReduce
  };
  explicit FlatModel(Options options);

  // Zeros.
  at::Tensor make() const;
  // A parameter's place in such a tensor, in its shape.
  at::Tensor at(const at::Tensor& flat, std::size_t parameter) const;
  void read_values(const at::Tensor& flat) const;
  void write_values(const at::Tensor& flat) const;
  std::vector<checkpoint::Piece> pieces(const at::Tensor& flat, const std::string& state) const;
  // Whether a checkpoint has such a state of any of its parameters.
  bool has_some(const std::string& state, const checkpoint::Checkpoint& from) const;
  // From a checkpoint; false where that has none, and then nothing is changed.
  bool restore(const at::Tensor& flat, const std::string& state,
               const checkpoint::Checkpoint& from) const;

  // Begins to replace `flat` by its sum over ranks; number: of the step or round. One at a time.
  void launch(const at::Tensor& flat, std::int64_t number);
  // Moves on without waiting.
  void poll();
  // Waits for the sum.
  void finish();
  void sum(const at::Tensor& flat, std::int64_t number) {
    launch(flat, number);
    finish();
  }
  // What the last sum was counts: all ranks have it.
  void commit();
  // What is on its way is given up.
  void forget();
  // From now on with these. A sum that was given up is launched again, with the same number.
  void regroup(const comm::Group& group);
  // Of the last sum.
  Traffic traffic() const noexcept { return traffic_; }

  std::optional<data::CodedAllReduce>& exchange() noexcept { return exchange_; }
  const std::vector<Parameter>& parameters() const noexcept { return options_.parameters; }

 private:
  at::Tensor bucket_of(const at::Tensor& flat, std::size_t bucket) const;

  Options options_;
  data::BucketPlan plan_;
  std::optional<data::CodedAllReduce> exchange_;
  bool is_coded_ = false;  // what is on its way
  std::vector<comm::TensorWork> works_;
  std::size_t finished_ = 0;
  Traffic traffic_;
};

}  // namespace trireme::parallel::local
