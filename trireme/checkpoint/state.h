// State is what a checkpoint is made of: pieces of named tensors, and a text of everything else.
//
// A piece is a flat, row-major range of its logical tensor: a rank that holds a slice of the
// optimizer's state gives that slice and says where in the whole it begins.
//
// Threads: values. The tensors are referred to, not copied, until somebody saves them.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::checkpoint {

struct Piece {
  std::string name;
  std::vector<std::int64_t> sizes;  // of the logical tensor
  std::int64_t begin = 0;           // the first element
  at::Tensor data;                  // any shape; its elements in order are the range
};

struct State {
  std::vector<Piece> pieces;
  std::string meta = "{}";  // JSON: step, position, schedule, settings

  // A whole tensor.
  void add(std::string name, at::Tensor tensor) {
    const std::vector<std::int64_t> sizes = tensor.sizes().vec();
    pieces.push_back({.name = std::move(name), .sizes = sizes, .data = std::move(tensor)});
  }
};

}  // namespace trireme::checkpoint
