// State is the content of a checkpoint: pieces of named tensors, and one text for everything else.
//
// A piece is a flat, row-major range of a shard of its logical tensor. The shard is the box of a
// view that tensor parallelism gives a rank, or the whole tensor; a rank that updates a part of it
// adds this part and the index at which it begins in the shard.
//
// Lifetime: values. The tensors are shared, not copied, until they are saved.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/mesh/shard.h"

namespace trireme::checkpoint {

struct Piece {
  std::string name;
  mesh::Shard shard;       // of the logical tensor
  std::int64_t begin = 0;  // index of the first element, within the shard
  at::Tensor data;         // any shape; its elements in row-major order are the range
};

struct State {
  std::vector<Piece> pieces;
  std::string meta = "{}";  // JSON: step, position, schedule, settings

  // Adds a whole tensor.
  void add(std::string name, at::Tensor tensor) {
    mesh::Shard whole = tensor.sizes().vec();
    pieces.push_back(
        {.name = std::move(name), .shard = std::move(whole), .data = std::move(tensor)});
  }
};

}  // namespace trireme::checkpoint
