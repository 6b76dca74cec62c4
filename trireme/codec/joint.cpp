#include "trireme/codec/joint.h"

#include <algorithm>
#include <bit>

#include "trireme/base/check.h"
#include "trireme/codec/select.h"

namespace trireme::codec {

std::vector<float> nominate(std::span<const float> values, std::span<const float> residual,
                            std::size_t k) {
  std::vector<float> sums(values.begin(), values.end());
  for (std::size_t i = 0; i < residual.size(); ++i) sums[i] += residual[i];
  std::vector<float> nominated;
  for_largest(sums, std::min(k, sums.size()), [&](std::size_t i) {
    nominated.push_back(std::bit_cast<float>(magnitude_bits(sums[i])));
  });
  return nominated;
}

std::size_t quota_of(std::span<const float> nominations, std::span<const std::size_t> counts,
                     std::size_t rank, std::size_t k) {
  TRIREME_CHECK(rank < counts.size(), "rank ", rank, " of ", counts.size());
  if (k == 0) return 0;
  Cut cut = find_cut(nominations, k);
  std::size_t begin = 0, quota = 0;
  for (std::size_t r = 0; r <= rank; ++r) {
    quota = 0;
    std::size_t equal = 0;
    for (const float one : nominations.subspan(begin, counts[r])) {
      quota += magnitude_bits(one) > cut.bits ? 1 : 0;
      equal += magnitude_bits(one) == cut.bits ? 1 : 0;
    }
    const std::size_t taken = std::min(equal, cut.equal);
    cut.equal -= taken;
    quota += taken;
    begin += counts[r];
  }
  return quota;
}

}  // namespace trireme::codec
