#include "trireme/train/saved_pieces.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

#include "trireme/base/bytes.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/fair_part.h"

namespace trireme::train {
namespace {

using SavedPlaces = std::vector<std::uint64_t>;

// A hash of the name and the place of each piece, without its values.
SavedPlaces places_of(const std::vector<checkpoint::Piece>& pieces) {
  SavedPlaces places;
  for (const checkpoint::Piece& piece : pieces) {
    ByteWriter writer;
    writer.put_text(piece.name);
    const mesh::Box& box = piece.shard.box();
    for (const std::int64_t number : box.begin) writer.put(number);
    for (const std::int64_t number : box.sizes) writer.put(number);
    writer.put(piece.begin).put<std::int64_t>(piece.data.numel());
    places.push_back(xxh64(writer.bytes()));
  }
  return places;
}

// The numbers of all ranks, in rank order; rank r has counts[r].
SavedPlaces gathered(SavedPlaces& mine, const std::vector<std::size_t>& counts,
                     const comm::Group& group) {
  SavedPlaces all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  group
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine.data(), mine.size(), comm::DType::Int64}, counts,
                  {.label = "pieces of all ranks"})
      .wait();
  return all;
}

// The ranks that hold each of the pieces, by its place.
std::map<std::uint64_t, std::vector<int>> holders_of(SavedPlaces& mine,
                                                     const std::vector<std::size_t>& counts,
                                                     const comm::Group& group) {
  std::map<std::uint64_t, std::vector<int>> holders;
  for (const std::uint64_t place : mine) holders[place];
  const SavedPlaces all = gathered(mine, counts, group);
  auto next = all.begin();
  for (int rank = 0; rank < group.size(); ++rank) {
    for (std::size_t i = 0; i < counts[static_cast<std::size_t>(rank)]; ++i, ++next) {
      const auto own = holders.find(*next);
      if (own != holders.end()) own->second.push_back(rank);
    }
  }
  return holders;
}

}  // namespace

std::vector<checkpoint::Piece> saved_pieces(std::vector<checkpoint::Piece> held,
                                            const comm::Group& group, bool is_first_holder) {
  if (!is_first_holder) {
    std::erase_if(held, [](const checkpoint::Piece& piece) { return piece.shard.is_whole(); });
  }
  if (group.size() == 1) return held;
  const auto ranks = static_cast<std::size_t>(group.size());
  SavedPlaces mine = places_of(held);
  // Usually all ranks hold the same pieces, which two numbers show.
  SavedPlaces summary{xxh64(std::as_bytes(std::span(mine))), mine.size()};
  const SavedPlaces all = gathered(summary, std::vector<std::size_t>(ranks, 2), group);
  std::vector<std::size_t> counts;
  bool is_alike = true;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    counts.push_back(static_cast<std::size_t>(all[2 * rank + 1]));
    is_alike &= all[2 * rank] == all[0];
  }
  if (is_alike) return checkpoint::fair_part(held, group.rank(), group.size());
  // Pieces with the same holders are divided together.
  const auto holders = holders_of(mine, counts, group);
  std::map<std::vector<int>, std::vector<checkpoint::Piece>> by_holders;
  for (std::size_t i = 0; i < held.size(); ++i) by_holders[holders.at(mine[i])].push_back(held[i]);
  std::vector<checkpoint::Piece> saved;
  for (auto& [own, pieces] : by_holders) {
    // All holders divide the same sequence, in whichever order each of them lists its pieces.
    std::ranges::sort(pieces, [](const checkpoint::Piece& a, const checkpoint::Piece& b) {
      return std::tie(a.name, a.shard.box(), a.begin) < std::tie(b.name, b.shard.box(), b.begin);
    });
    const auto index = std::ranges::find(own, group.rank()) - own.begin();
    for (checkpoint::Piece& piece :
         checkpoint::fair_part(pieces, static_cast<int>(index), static_cast<int>(own.size()))) {
      saved.push_back(std::move(piece));
    }
  }
  return saved;
}

}  // namespace trireme::train
