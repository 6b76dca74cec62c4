#include "trireme/parallel/data/storage/flat_memory.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel::data {
namespace {

constexpr auto kFindMax = std::chrono::seconds(60);

}  // namespace

at::Tensor private_flat(const comm::Group& group, std::int64_t count, at::ScalarType type) {
  at::Tensor flat = comm::empty_in_arena(group, {count}, type);
  flat.zero_();
  return flat;
}

at::Tensor common_flat(const comm::Group& group, std::uint64_t name, std::int64_t count,
                       at::ScalarType type, int users) {
  const std::shared_ptr<comm::Arena> arena = group.arena();
  if (!arena) throw Error(ErrorCode::Unsupported, "the ranks of this group do not share memory");
  const std::size_t size =
      std::max<std::size_t>(static_cast<std::size_t>(count) * c10::elementSize(type), 1);
  std::byte* data = arena->find_or_make(
      name, size, users > 0 ? users : std::numeric_limits<int>::max(), Deadline::after(kFindMax));
  const auto release = [arena, name, users](void*) {
    if (users > 0) arena->release(name);
  };
  return at::from_blob(data, {count}, release, at::TensorOptions().dtype(type));
}

}  // namespace trireme::parallel::data
