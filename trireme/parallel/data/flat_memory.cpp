#include "trireme/parallel/data/flat_memory.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>

#include "trireme/base/deadline.h"
#include "trireme/base/entropy.h"
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

at::Tensor common_flat(const comm::Group& group, std::int64_t count, at::ScalarType type) {
  const std::shared_ptr<comm::Arena> arena = group.arena();
  if (!arena) throw Error(ErrorCode::Unsupported, "these ranks share no memory");
  // A name that nobody else has; the block goes back with its last user.
  std::int64_t key = 0;
  secure_random({reinterpret_cast<std::byte*>(&key), sizeof(key)});
  group.broadcast({&key, 1, comm::DType::Int64}, 0, {.label = "name of shared memory"}).wait();
  const std::uint64_t name = static_cast<std::uint64_t>(key) | 1;  // 0 is no name
  const std::size_t size =
      std::max<std::size_t>(static_cast<std::size_t>(count) * c10::elementSize(type), 1);
  std::byte* data = arena->find_or_make(name, size, group.size(), Deadline::after(kFindMax));
  return at::from_blob(
      data, {count}, [arena, name](void*) { arena->release(name); },
      at::TensorOptions().dtype(type));
}

}  // namespace trireme::parallel::data
