#include "trireme/optim/kernel/update.h"

#include "trireme/optim/kernel/rules.h"

// One loop, compiled for several vector widths; the best one for the machine is selected at run
// time.
#define TRIREME_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))

namespace trireme::optim::kernel {
namespace {

template <class Rule, class T>
[[gnu::always_inline]] inline void loop(const Rule& rule, const Elements<T>& all,
                                        std::int64_t count) {
  T* __restrict value = all.value;
  const T* __restrict gradient = all.gradient;
  T* __restrict a = all.state[0];
  T* __restrict b = all.state[1];
  T* __restrict c = all.state[2];
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (Rule::kStates == 0) rule(value[i], gradient[i]);
    if constexpr (Rule::kStates == 1) rule(value[i], gradient[i], a[i]);
    if constexpr (Rule::kStates == 2) rule(value[i], gradient[i], a[i], b[i]);
    if constexpr (Rule::kStates == 3) rule(value[i], gradient[i], a[i], b[i], c[i]);
  }
}

}  // namespace

#define TRIREME_NAME(...) __VA_ARGS__
#define TRIREME_UPDATE(RULE)                                                        \
  template <>                                                                       \
  TRIREME_WIDE void update(const TRIREME_NAME RULE& rule,                           \
                           const Elements<typename TRIREME_NAME RULE::Number>& all, \
                           std::int64_t count) {                                    \
    loop(rule, all, count);                                                         \
  }
TRIREME_FOR_EACH_RULE(TRIREME_UPDATE)

}  // namespace trireme::optim::kernel
