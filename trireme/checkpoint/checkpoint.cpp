#include "trireme/checkpoint/checkpoint.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "trireme/base/error.h"
#include "trireme/checkpoint/scalar_type.h"

namespace trireme::checkpoint {

Checkpoint::Checkpoint(const std::filesystem::path& path, const format::ReadOptions& options)
    : reader_(std::make_shared<const format::Reader>(path, options)) {}

Checkpoint Checkpoint::open(const std::filesystem::path& path, const format::ReadOptions& options) {
  return Checkpoint(path, options);
}

Checkpoint::Newest Checkpoint::newest_whole(const std::filesystem::path& folder,
                                            const format::ReadOptions& options,
                                            const format::MetaCheck& check) {
  // A running job may remove the checkpoint that was found before it is opened.
  constexpr int kAttempts = 10;
  for (int attempt = 1;; ++attempt) {
    format::Newest found = format::find_newest_whole(folder, options, check);
    Newest newest{.checkpoint = std::nullopt, .skipped = std::move(found.skipped)};
    if (!found.path) return newest;
    try {
      newest.checkpoint = open(*found.path, options);
      return newest;
    } catch (const Error& error) {
      const bool is_removed =
          error.code() == ErrorCode::NotFound && !std::filesystem::exists(*found.path);
      if (!is_removed || attempt == kAttempts) throw;
    }
  }
}

std::vector<std::string> Checkpoint::Newest::notes() const {
  std::vector<std::string> all;
  for (const format::Skipped& damaged : skipped) {
    all.push_back("checkpoint " + damaged.path.string() + " is damaged (" + damaged.reason + "); " +
                  (checkpoint ? "using " + checkpoint->path().filename().string() + " instead"
                              : "there is no whole one to use instead"));
  }
  return all;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const format::StoredTensor& tensor : reader_->manifest().tensors) {
    names.push_back(tensor.name);
  }
  return names;
}

bool Checkpoint::has(std::string_view name) const {
  return reader_->manifest().find(name) != nullptr;
}

std::vector<std::int64_t> Checkpoint::sizes(std::string_view name) const {
  return reader_->tensor(name).sizes();
}

at::ScalarType Checkpoint::scalar_type(std::string_view name) const {
  return to_scalar_type(reader_->tensor(name).dtype);
}

at::Tensor Checkpoint::read(std::string_view name) const {
  const format::StoredTensor& tensor = reader_->tensor(name);
  at::Tensor out = at::empty(tensor.sizes(), to_scalar_type(tensor.dtype));
  reader_->read(tensor, 0, tensor.count(), static_cast<std::byte*>(out.data_ptr()));
  return out;
}

void Checkpoint::read_into(std::string_view name, at::Tensor out) const {
  const format::StoredTensor& tensor = reader_->tensor(name);
  if (out.numel() != tensor.count()) {
    throw Error(ErrorCode::Mismatch, "tensor " + tensor.name + ": " +
                                         std::to_string(tensor.count()) + " elements into " +
                                         std::to_string(out.numel()));
  }
  read(tensor, {.shard = mesh::Shard(tensor.view), .begin = 0, .count = tensor.count()},
       std::move(out));
}

void Checkpoint::read_into(const Piece& piece) const {
  const format::StoredTensor& tensor = reader_->tensor(piece.name);
  const std::vector<std::int64_t>& sizes = piece.shard.view().tensor_sizes();
  if (sizes != tensor.sizes()) {
    throw Error(ErrorCode::Mismatch, "tensor " + tensor.name + " has the sizes " +
                                         mesh::text_of(tensor.sizes()) + " in " + path().string() +
                                         ", and " + mesh::text_of(sizes) + " in this job");
  }
  read(tensor, {.shard = piece.shard, .begin = piece.begin, .count = piece.data.numel()},
       piece.data);
}

void Checkpoint::read(const format::StoredTensor& tensor, const mesh::ShardRange& range,
                      at::Tensor out) const {
  const at::NoGradGuard no_grad;
  const at::ScalarType type = to_scalar_type(tensor.dtype);
  if (out.is_cpu() && out.is_contiguous() && out.scalar_type() == type) {
    reader_->read(tensor, range, static_cast<std::byte*>(out.data_ptr()));
  } else {
    const at::Tensor held = at::empty(out.sizes(), type);
    reader_->read(tensor, range, static_cast<std::byte*>(held.data_ptr()));
    out.copy_(held);
  }
}

}  // namespace trireme::checkpoint
