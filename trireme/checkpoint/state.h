// State is the content of a checkpoint: pieces of named tensors, and one text for everything else.
//
// A piece is a flat, row-major range of its logical tensor: a rank that holds a shard of the
// optimizer state adds this shard and the index at which it begins in the whole tensor.
//
// Lifetime: values. The tensors are shared, not copied, until they are saved.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::checkpoint {

struct Piece {
  std::string name;
  std::vector<std::int64_t> sizes;  // of the logical tensor
  std::int64_t begin = 0;           // index of the first element
  at::Tensor data;                  // any shape; its elements in row-major order are the range
};

struct State {
  std::vector<Piece> pieces;
  std::string meta = "{}";  // JSON: step, position, schedule, settings

  // Adds a whole tensor.
  void add(std::string name, at::Tensor tensor) {
    const std::vector<std::int64_t> sizes = tensor.sizes().vec();
    pieces.push_back({.name = std::move(name), .sizes = sizes, .data = std::move(tensor)});
  }
};

}  // namespace trireme::checkpoint
