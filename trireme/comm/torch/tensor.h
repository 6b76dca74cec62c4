// The collectives of Group for torch tensors. This is the only part of comm/ that depends on torch.
//
// Tensors may have any strides and lie on the CPU or a GPU: a tensor that is not contiguous is
// packed before the operation and unpacked in wait(), and so is one on a GPU if the group's backend
// reads the memory of the CPU only. Tensors from empty_in_arena() are reduced in place by all
// ranks, without a copy.
//
// Autograd: data is read and written without autograd, as for gradients and parameters.
// Errors:   Misuse for devices other than the CPU and CUDA GPUs, and for types without a DType
// (broadcast supports
//           any type); otherwise as for Group.

#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "trireme/comm/group.h"

namespace trireme::comm {

// Errors: throws Misuse for a type that has no DType.
DType dtype_of(at::ScalarType type);

// A view of the memory of a contiguous tensor.
Span span(const at::Tensor& tensor);

// Work on tensors: keeps them alive and unpacks those that were packed.
class [[nodiscard]] TensorWork {
 public:
  TensorWork(TensorWork&&) = default;
  TensorWork& operator=(TensorWork&& other) noexcept;
  ~TensorWork();

  void wait();
  void wait(Deadline deadline);  // as Work
  // Makes progress without waiting; wait() must still be called.
  bool is_done() { return work_.is_done(); }

 private:
  friend class TensorCall;
  TensorWork() = default;

  struct Unpack {
    at::Tensor from;
    at::Tensor to;
  };
  std::vector<at::Tensor> kept_;
  std::vector<Unpack> unpacks_;
  Work work_;
};

TensorWork all_reduce(const Group& group, const at::Tensor& data, ReduceOp op,
                      const Call& call = {});
// The same for several small tensors of one type, in one operation.
TensorWork all_reduce(const Group& group, std::span<const at::Tensor> many, ReduceOp op,
                      const Call& call = {});
TensorWork reduce(const Group& group, const at::Tensor& data, ReduceOp op, int root,
                  const Call& call = {});
TensorWork reduce_scatter(const Group& group, const at::Tensor& out, const at::Tensor& in,
                          ReduceOp op, const Call& call = {});
TensorWork all_gather(const Group& group, const at::Tensor& out, const at::Tensor& piece,
                      const Call& call = {});
// The same with a different count per rank.
TensorWork reduce_scatter(const Group& group, const at::Tensor& out, const at::Tensor& in,
                          std::span<const std::size_t> counts, ReduceOp op, const Call& call = {});
TensorWork all_gather(const Group& group, const at::Tensor& out, const at::Tensor& piece,
                      std::span<const std::size_t> counts, const Call& call = {});
// Only the root uses `out` of gather and `in` of scatter; on the other ranks they may be undefined.
TensorWork gather(const Group& group, const at::Tensor& out, const at::Tensor& piece, int root,
                  const Call& call = {});
TensorWork gather(const Group& group, const at::Tensor& out, const at::Tensor& piece,
                  std::span<const std::size_t> counts, int root, const Call& call = {});
TensorWork scatter(const Group& group, const at::Tensor& out, const at::Tensor& in, int root,
                   const Call& call = {});
TensorWork scatter(const Group& group, const at::Tensor& out, const at::Tensor& in,
                   std::span<const std::size_t> counts, int root, const Call& call = {});
TensorWork broadcast(const Group& group, const at::Tensor& data, int root, const Call& call = {});
TensorWork all_to_all(const Group& group, const at::Tensor& out, const at::Tensor& in,
                      const Call& call = {});
TensorWork all_to_all(const Group& group, const at::Tensor& out,
                      std::span<const std::size_t> receive_counts, const at::Tensor& in,
                      std::span<const std::size_t> send_counts, const Call& call = {});
TensorWork send(const Group& group, const at::Tensor& data, int to, std::uint32_t tag,
                const Call& call = {});
TensorWork receive(const Group& group, const at::Tensor& data, int from, std::uint32_t tag,
                   const Call& call = {});

// The share of one logical rank in an ordered sum, held by this rank.
struct TensorShare {
  int logical_rank = 0;
  at::Tensor data;
};
TensorWork ordered_sum(const Group& group, const at::Tensor& out, std::span<const TensorShare> mine,
                       std::span<const int> owners, ReduceOp op = ReduceOp::Sum,
                       const Call& call = {});

// Returns an uninitialized contiguous tensor in the memory that the group's ranks share, or in
// ordinary memory if they share none. The memory is freed with the last tensor that refers to
// it.
at::Tensor empty_in_arena(const Group& group, at::IntArrayRef sizes, at::ScalarType type);

}  // namespace trireme::comm
