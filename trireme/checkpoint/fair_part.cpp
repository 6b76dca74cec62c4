#include "trireme/checkpoint/fair_part.h"

#include <algorithm>
#include <cstdint>

#include "trireme/base/check.h"

namespace trireme::checkpoint {

std::vector<Piece> fair_part(const std::vector<Piece>& pieces, int index, int count) {
  TRIREME_CHECK(index >= 0 && index < count, "stretch ", index, " of ", count);
  if (count == 1) return pieces;
  std::int64_t total = 0;
  for (const Piece& piece : pieces) total += static_cast<std::int64_t>(piece.data.nbytes());
  // Exact for any total: total * k could overflow 64 bits.
  const auto cut = [&](std::int64_t k) { return total / count * k + total % count * k / count; };
  std::vector<Piece> part;
  std::int64_t at = 0;  // bytes before this piece
  for (const Piece& piece : pieces) {
    const auto element = static_cast<std::int64_t>(piece.data.element_size());
    const std::int64_t held = piece.data.numel();
    // An element that contains a cut belongs to the range after the cut, on every rank.
    const auto place = [&](std::int64_t bytes) {
      return std::clamp<std::int64_t>((bytes - at) / element, 0, held);
    };
    const std::int64_t begin = index == 0 ? 0 : place(cut(index));
    const std::int64_t end = index == count - 1 ? held : place(cut(index + 1));
    at += held * element;
    if (begin >= end && !(held == 0 && index == 0)) continue;
    if (begin == 0 && end == held) {
      part.push_back(piece);
      continue;
    }
    part.push_back({.name = piece.name,
                    .shard = piece.shard,
                    .begin = piece.begin + begin,
                    .data = piece.data.reshape({-1}).slice(0, begin, end)});
  }
  return part;
}

}  // namespace trireme::checkpoint
