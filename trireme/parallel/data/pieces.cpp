#include "trireme/parallel/data/pieces.h"

#include <ATen/ops/empty.h>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/agree.h"

namespace trireme::parallel::data {
namespace {

// Slices of all ranks, bucket by bucket; only rank 0 gets them.
at::Tensor whole_of(const FlatSpace& space, const Layout& layout, const comm::Group& group) {
  if (!space.is_compact) return space.memory;
  const bool is_first = group.rank() == 0;
  at::Tensor whole = at::empty({is_first ? layout.plan.count : 0}, space.memory.options());
  for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
    const ElementRange range = layout.plan.buckets[b].range;
    const comm::Span out =
        is_first ? comm::span(whole.narrow(0, range.begin, range.count())) : comm::Span{};
    const auto counts = layout.plan.buckets[b].slice_counts(group.size());
    group
        .gather(out, comm::span(space.at(b, layout.own[b])), counts, 0,
                {.label = "state to be saved"})
        .wait();
  }
  return whole;
}

}  // namespace

std::vector<checkpoint::Piece> own_pieces(const Layout& layout,
                                          const std::vector<Parameter>& parameters,
                                          const std::vector<std::string>& states) {
  std::vector<checkpoint::Piece> all;
  for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
    const ElementRange own = layout.own[b];
    for (const BucketPlan::Entry& entry : layout.plan.buckets[b].entries) {
      const Parameter& parameter = parameters[entry.parameter];
      const ElementRange part = common(entry.range, own);
      if (part.count() <= 0) continue;
      const std::vector<std::int64_t> sizes = parameter.tensor.sizes().vec();
      const std::int64_t begin = part.begin - entry.range.begin;
      all.push_back({.name = parameter.name,
                     .sizes = sizes,
                     .begin = begin,
                     .data = layout.values.at(b, part)});
      for (std::size_t s = 0; s < states.size(); ++s) {
        all.push_back({.name = Agreement::state_name(states[s], parameter.name),
                       .sizes = sizes,
                       .begin = begin,
                       .data = layout.states[s].at(b, part)});
      }
    }
  }
  return all;
}

std::vector<checkpoint::Piece> collect_pieces(const Layout& layout, const comm::Group& group,
                                              const std::vector<Parameter>& parameters,
                                              const std::vector<std::string>& states) {
  const at::Tensor values = whole_of(layout.values, layout, group);
  std::vector<at::Tensor> spaces;
  for (const FlatSpace& state : layout.states) spaces.push_back(whole_of(state, layout, group));
  std::vector<checkpoint::Piece> all;
  if (group.rank() != 0) return all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ElementRange range = layout.plan.range_of[i];
    const std::vector<std::int64_t> sizes = parameters[i].tensor.sizes().vec();
    all.push_back({.name = parameters[i].name,
                   .sizes = sizes,
                   .data = values.narrow(0, range.begin, range.count())});
    for (std::size_t s = 0; s < states.size(); ++s) {
      all.push_back({.name = Agreement::state_name(states[s], parameters[i].name),
                     .sizes = sizes,
                     .data = spaces[s].narrow(0, range.begin, range.count())});
    }
  }
  return all;
}

}  // namespace trireme::parallel::data
