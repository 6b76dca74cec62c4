#include "trireme/train/saved_pieces.h"

#include <algorithm>
#include <cstdint>

#include "trireme/base/bytes.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/fair_part.h"

namespace trireme::train {
namespace {

// A hash of the names and ranges of the pieces, without their values.
std::uint64_t places_of(const std::vector<checkpoint::Piece>& pieces) {
  ByteWriter writer;
  for (const checkpoint::Piece& piece : pieces) {
    writer.put_text(piece.name).put(piece.begin).put<std::int64_t>(piece.data.numel());
  }
  return xxh64(writer.bytes());
}

}  // namespace

std::vector<checkpoint::Piece> saved_pieces(const std::vector<checkpoint::Piece>& held,
                                            const comm::Group& group) {
  if (group.size() == 1) return held;
  std::uint64_t mine = places_of(held);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::Int64}, {&mine, 1, comm::DType::Int64},
                  {.label = "pieces of all ranks"})
      .wait();
  const auto here = all.begin() + group.rank();
  const auto before = std::count(all.begin(), here, mine);
  const auto alike = before + std::count(here, all.end(), mine);
  return checkpoint::fair_part(held, static_cast<int>(before), static_cast<int>(alike));
}

}  // namespace trireme::train
