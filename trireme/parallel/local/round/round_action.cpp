#include "trireme/parallel/local/round/round_action.h"

namespace trireme::parallel::local {
namespace {

constexpr int kVoteFigures = 5;

}  // namespace

std::int64_t mark_of(const Prepared& prepared) {
  std::int64_t mark = RoundAction{.step = prepared.step, .occasion = Occasion::Prepare}.mark();
  for (std::size_t i = 0; i < prepared.figures.size(); ++i) {
    if (prepared.figures[i] != 0) mark |= std::int64_t{1} << i;
  }
  return mark;
}

Prepared prepared_of(std::int64_t mark) {
  Prepared prepared{.step = (mark >> 16) - 1};
  if (mark_of(prepared) != (mark & ~std::int64_t{255})) return {};
  for (int i = 0; i < kVoteFigures; ++i) prepared.figures.push_back((mark >> i & 1) != 0 ? 1 : 0);
  return prepared;
}

}  // namespace trireme::parallel::local
