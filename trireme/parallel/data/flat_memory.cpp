#include "trireme/parallel/data/flat_memory.h"

#include <ATen/ops/from_blob.h>

#include "trireme/base/error.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel::data {

at::Tensor private_flat(const comm::Group& group, std::int64_t count, at::ScalarType type) {
  at::Tensor flat = comm::empty_in_arena(group, {count}, type);
  flat.zero_();
  return flat;
}

at::Tensor common_flat(const comm::Group& group, std::int64_t count, at::ScalarType type) {
  const std::shared_ptr<comm::Arena> arena = group.arena();
  if (!arena) throw Error(ErrorCode::Unsupported, "these ranks share no memory");
  at::Tensor own;
  std::int64_t offset = 0;
  if (group.rank() == 0) {
    own = private_flat(group, count, type);
    offset = static_cast<std::int64_t>(arena->offset_of(own.const_data_ptr()));
  }
  group.broadcast({&offset, 1, comm::DType::Int64}, 0, {.label = "place of shared memory"}).wait();
  if (group.rank() == 0) return own;
  // Nobody else's allocator knows of it: the arena itself stays as long as the tensor.
  return at::from_blob(
      arena->at(static_cast<std::uint64_t>(offset)), {count}, [arena](void*) {},
      at::TensorOptions().dtype(type));
}

}  // namespace trireme::parallel::data
