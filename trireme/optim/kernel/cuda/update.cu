#include "trireme/device/cuda/launch.cuh"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/kernel/update.h"

namespace trireme::optim::kernel {
namespace {

template <class Rule, class T>
__global__ void update_elements(Rule rule, Elements<T> all, std::int64_t count) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    if constexpr (Rule::kStates == 0) rule(all.value[i], all.gradient[i]);
    if constexpr (Rule::kStates == 1) rule(all.value[i], all.gradient[i], all.state[0][i]);
    if constexpr (Rule::kStates == 2) {
      rule(all.value[i], all.gradient[i], all.state[0][i], all.state[1][i]);
    }
    if constexpr (Rule::kStates == 3) {
      rule(all.value[i], all.gradient[i], all.state[0][i], all.state[1][i], all.state[2][i]);
    }
  }
}

}  // namespace

template <class Rule>
void update(const Rule& rule, const Elements<typename Rule::Number>& all, std::int64_t count,
            const Stream& stream) {
  cuda::launch(stream, count, update_elements<Rule, typename Rule::Number>, rule, all, count);
}

#define TRIREME_NAME(...) __VA_ARGS__
#define TRIREME_UPDATE(RULE)                                                              \
  template void update(const TRIREME_NAME RULE&,                                          \
                       const Elements<typename TRIREME_NAME RULE::Number>&, std::int64_t, \
                       const Stream&);
TRIREME_FOR_EACH_RULE(TRIREME_UPDATE)

}  // namespace trireme::optim::kernel
