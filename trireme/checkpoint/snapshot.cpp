#include "trireme/checkpoint/snapshot.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <memory>

#include "trireme/checkpoint/scalar_type.h"

namespace trireme::checkpoint {
namespace {

std::vector<format::PieceForm> forms_of(const State& state) {
  std::vector<format::PieceForm> forms;
  forms.reserve(state.pieces.size());
  for (const Piece& piece : state.pieces) {
    forms.push_back({.name = piece.name,
                     .dtype = to_dtype(piece.data.scalar_type()),
                     .shard = piece.shard,
                     .begin = piece.begin,
                     .count = piece.data.numel()});
  }
  return forms;
}

}  // namespace

void Snapshot::take(const State& state) {
  const at::NoGradGuard no_grad;
  layout_.emplace(forms_of(state));
  const auto size = static_cast<std::int64_t>(layout_->data_size() + format::kDataAlignment);
  if (!buffer_.defined() || buffer_.numel() < size) {
    buffer_ = at::Tensor();  // frees the old buffer before allocating the new one
    buffer_ = at::empty({size}, at::kByte);
  }
  for (std::size_t i = 0; i < state.pieces.size(); ++i) {
    const at::Tensor& data = state.pieces[i].data;
    if (data.numel() == 0) continue;
    at::from_blob(place(i), data.sizes(), at::TensorOptions(data.scalar_type())).copy_(data);
  }
}

std::byte* Snapshot::place(std::size_t index) const {
  void* begin = buffer_.data_ptr();
  auto room = static_cast<std::size_t>(buffer_.numel());
  std::align(format::kDataAlignment, layout_->data_size(), begin, room);
  return static_cast<std::byte*>(begin) + layout_->offset(index);
}

std::vector<ByteView> Snapshot::contents() const {
  std::vector<ByteView> contents;
  for (std::size_t i = 0; i < layout_->pieces().size(); ++i) {
    const std::size_t size = layout_->pieces()[i].size();
    contents.push_back(size == 0 ? ByteView() : ByteView(place(i), size));
  }
  return contents;
}

}  // namespace trireme::checkpoint
