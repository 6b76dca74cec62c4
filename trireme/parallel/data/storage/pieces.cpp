#include "trireme/parallel/data/storage/pieces.h"

#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel::data {

std::vector<checkpoint::Piece> own_pieces(const StorageLayout& layout,
                                          const std::vector<Parameter>& parameters,
                                          const std::vector<std::string>& states, bool has_empty) {
  std::vector<checkpoint::Piece> all;
  for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
    const ElementRange own = layout.own[b];
    for (const BucketPlan::Entry& entry : layout.plan.buckets[b].entries) {
      const Parameter& parameter = parameters[entry.parameter];
      const bool is_empty = entry.range.count() == 0;
      const ElementRange part = is_empty ? entry.range : common(entry.range, own);
      if (is_empty ? !has_empty : part.count() <= 0) continue;
      const std::int64_t begin = part.begin - entry.range.begin;
      all.push_back(piece_of(parameter, parameter.name, begin, layout.values.at(b, part)));
      for (std::size_t s = 0; s < states.size(); ++s) {
        all.push_back(piece_of(parameter, state_name(states[s], parameter.name), begin,
                               layout.states[s].at(b, part)));
      }
    }
  }
  return all;
}

}  // namespace trireme::parallel::data
