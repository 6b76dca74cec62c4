#include "trireme/comm/backend.h"

#include <numeric>

namespace trireme::comm {

std::vector<int> Backend::hosts() const {
  std::vector<int> numbers(static_cast<std::size_t>(size()), 0);
  if (!arena()) std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace trireme::comm
