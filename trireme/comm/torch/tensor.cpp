#include "trireme/comm/torch/tensor.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <memory>
#include <optional>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/comm/arena.h"

namespace trireme::comm {

namespace {

std::optional<DType> find_dtype(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return DType::Float64;
    case at::kFloat:
      return DType::Float32;
    case at::kHalf:
      return DType::Float16;
    case at::kBFloat16:
      return DType::BFloat16;
    case at::kLong:
      return DType::Int64;
    case at::kInt:
      return DType::Int32;
    case at::kChar:
      return DType::Int8;
    case at::kByte:
      return DType::UInt8;
    default:
      return std::nullopt;
  }
}

Device place_of(const at::Tensor& tensor) {
  TRIREME_CHECK(tensor.is_cpu() || tensor.is_cuda(), "a tensor on ", tensor.device().str());
  return tensor.is_cpu() ? Device{} : Device::cuda(tensor.get_device());
}

}  // namespace

DType dtype_of(at::ScalarType type) {
  const std::optional<DType> found = find_dtype(type);
  TRIREME_CHECK(found, "tensors of ", c10::toString(type), " do not travel; convert them first");
  return *found;
}

Span span(const at::Tensor& tensor) {
  TRIREME_CHECK(tensor.defined(), "an undefined tensor");
  TRIREME_CHECK(tensor.is_contiguous(), "a tensor that is not contiguous has no one span");
  return {tensor.data_ptr(), static_cast<std::size_t>(tensor.numel()),
          dtype_of(tensor.scalar_type()), place_of(tensor)};
}

// Collects what one call needs: readable and writable spans of any tensors. A tensor that the
// backend cannot use as it is has a contiguous copy, on the CPU.
class TensorCall {
 public:
  explicit TensorCall(const Group& group) : reads_cuda_(group.capabilities().reads_cuda) {}

  ConstSpan read(const at::Tensor& tensor) {
    return span(keep(tensor.detach().to(home_of(tensor)).contiguous()));
  }

  // For operations that only move data: any type is supported, as bytes if it has no DType.
  Span write_bytes(const at::Tensor& tensor) {
    if (find_dtype(tensor.scalar_type())) return write(tensor, true);
    const at::Tensor plain = tensor.detach();
    const at::Tensor packed = keep(plain.to(home_of(plain)).contiguous());
    if (!is_usable(plain)) work_.unpacks_.push_back({packed, plain});
    return {packed.data_ptr(), packed.nbytes(), DType::UInt8, place_of(packed)};
  }

  // `is_read`: the operation also reads the previous contents.
  Span write(const at::Tensor& tensor, bool is_read) {
    const at::Tensor plain = tensor.detach();
    if (is_usable(plain)) return span(keep(plain));
    at::Tensor packed = is_read ? plain.to(home_of(plain)).contiguous()
                                : at::empty(plain.sizes(), plain.options().device(home_of(plain)));
    work_.unpacks_.push_back({packed, plain});
    return span(packed);
  }

  TensorWork start(Work work) {
    work_.work_ = std::move(work);
    return std::move(work_);
  }

 private:
  at::Device home_of(const at::Tensor& tensor) const {
    return reads_cuda_ ? tensor.device() : at::Device(at::kCPU);
  }
  bool is_usable(const at::Tensor& tensor) const {
    return tensor.is_contiguous() && (tensor.is_cpu() || reads_cuda_);
  }
  const at::Tensor& keep(at::Tensor tensor) { return work_.kept_.emplace_back(std::move(tensor)); }

  bool reads_cuda_;
  TensorWork work_;
};

void TensorWork::wait(Deadline deadline) {
  work_.wait(deadline);
  wait();
}

void TensorWork::wait() {
  work_.wait();
  for (const Unpack& unpack : std::exchange(unpacks_, {})) unpack.to.copy_(unpack.from);
}

// The memory must outlive the operation, so the work ends before the tensors are released.
TensorWork& TensorWork::operator=(TensorWork&& other) noexcept {
  work_ = std::move(other.work_);
  kept_ = std::move(other.kept_);
  unpacks_ = std::move(other.unpacks_);
  return *this;
}

TensorWork::~TensorWork() {
  work_ = Work();
}

TensorWork all_reduce(const Group& group, const at::Tensor& data, ReduceOp op, const Call& call) {
  TensorCall tensors(group);
  const Span all = tensors.write(data, true);
  return tensors.start(group.all_reduce(all, op, call));
}

TensorWork all_reduce(const Group& group, std::span<const at::Tensor> many, ReduceOp op,
                      const Call& call) {
  TensorCall tensors(group);
  std::vector<Span> all;
  for (const at::Tensor& data : many) all.push_back(tensors.write(data, true));
  return tensors.start(group.all_reduce(all, op, call));
}

TensorWork reduce(const Group& group, const at::Tensor& data, ReduceOp op, int root,
                  const Call& call) {
  TensorCall tensors(group);
  const Span all = tensors.write(data, true);
  return tensors.start(group.reduce(all, op, root, call));
}

TensorWork reduce_scatter(const Group& group, const at::Tensor& out, const at::Tensor& in,
                          ReduceOp op, const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = tensors.read(in);
  return tensors.start(group.reduce_scatter(result, source, op, call));
}

TensorWork all_gather(const Group& group, const at::Tensor& out, const at::Tensor& piece,
                      const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = tensors.read(piece);
  return tensors.start(group.all_gather(result, source, call));
}

TensorWork reduce_scatter(const Group& group, const at::Tensor& out, const at::Tensor& in,
                          std::span<const std::size_t> counts, ReduceOp op, const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = tensors.read(in);
  return tensors.start(group.reduce_scatter(result, source, counts, op, call));
}

TensorWork all_gather(const Group& group, const at::Tensor& out, const at::Tensor& piece,
                      std::span<const std::size_t> counts, const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = tensors.read(piece);
  return tensors.start(group.all_gather(result, source, counts, call));
}

TensorWork gather(const Group& group, const at::Tensor& out, const at::Tensor& piece, int root,
                  const Call& call) {
  TensorCall tensors(group);
  const Span result = group.rank() == root ? tensors.write(out, false) : Span();
  const ConstSpan source = tensors.read(piece);
  return tensors.start(group.gather(result, source, root, call));
}

TensorWork gather(const Group& group, const at::Tensor& out, const at::Tensor& piece,
                  std::span<const std::size_t> counts, int root, const Call& call) {
  TensorCall tensors(group);
  const Span result = group.rank() == root ? tensors.write(out, false) : Span();
  const ConstSpan source = tensors.read(piece);
  return tensors.start(group.gather(result, source, counts, root, call));
}

TensorWork scatter(const Group& group, const at::Tensor& out, const at::Tensor& in, int root,
                   const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = group.rank() == root ? tensors.read(in) : ConstSpan();
  return tensors.start(group.scatter(result, source, root, call));
}

TensorWork scatter(const Group& group, const at::Tensor& out, const at::Tensor& in,
                   std::span<const std::size_t> counts, int root, const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = group.rank() == root ? tensors.read(in) : ConstSpan();
  return tensors.start(group.scatter(result, source, counts, root, call));
}

TensorWork broadcast(const Group& group, const at::Tensor& data, int root, const Call& call) {
  TensorCall tensors(group);
  const Span all = tensors.write_bytes(data);
  return tensors.start(group.broadcast(all, root, call));
}

TensorWork all_to_all(const Group& group, const at::Tensor& out, const at::Tensor& in,
                      const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = tensors.read(in);
  return tensors.start(group.all_to_all(result, source, call));
}

TensorWork all_to_all(const Group& group, const at::Tensor& out,
                      std::span<const std::size_t> receive_counts, const at::Tensor& in,
                      std::span<const std::size_t> send_counts, const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  const ConstSpan source = tensors.read(in);
  return tensors.start(group.all_to_all(result, receive_counts, source, send_counts, call));
}

TensorWork ordered_sum(const Group& group, const at::Tensor& out, std::span<const TensorShare> mine,
                       std::span<const int> owners, ReduceOp op, const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(out, false);
  std::vector<LogicalShare> shares;
  for (const TensorShare& share : mine)
    shares.push_back({share.logical_rank, tensors.read(share.data)});
  return tensors.start(group.ordered_sum(result, shares, owners, op, call));
}

TensorWork send(const Group& group, const at::Tensor& data, int to, std::uint32_t tag,
                const Call& call) {
  TensorCall tensors(group);
  const ConstSpan source = tensors.read(data);
  return tensors.start(group.send(source, to, tag, call));
}

TensorWork receive(const Group& group, const at::Tensor& data, int from, std::uint32_t tag,
                   const Call& call) {
  TensorCall tensors(group);
  const Span result = tensors.write(data, false);
  return tensors.start(group.receive(result, from, tag, call));
}

at::Tensor empty_in_arena(const Group& group, at::IntArrayRef sizes, at::ScalarType type) {
  const auto arena = group.arena();
  const auto options = at::TensorOptions().dtype(type);
  if (!arena) return at::empty(sizes, options);
  std::size_t count = 1;
  for (std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
  auto piece = std::make_shared<ArenaPiece>(
      arena->allocate(group.arena_member(), count * size_of(dtype_of(type))));
  void* data = piece->data();
  return at::from_blob(data, sizes, [piece](void*) mutable { piece.reset(); }, options);
}

}  // namespace trireme::comm
