// BlockRange is the blocks [begin, end) of a model.
//
// Thread safety: a value.

#pragma once

#include <cstddef>

namespace trireme::model {

struct BlockRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t count() const noexcept { return end - begin; }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

}  // namespace trireme::model
