#include "trireme/optim/kernel/rules.h"

#include <cmath>

// One loop, compiled for several vector widths; the machine's best is taken at run time.
#define TRIREME_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))

namespace trireme::optim::kernel {
namespace {

template <class T>
[[gnu::always_inline]] inline void adam_loop(const AdamNumbers<T>& n, T* __restrict value,
                                             const T* __restrict gradient, T* __restrict mean,
                                             T* __restrict square, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] * n.scale + n.penalty * value[i];
    const T m = mean[i] + n.keep1 * (g - mean[i]);
    const T s = n.beta2 * square[i] + n.keep2 * (g * g);
    mean[i] = m;
    square[i] = s;
    value[i] = value[i] * n.decay - n.step_size * m / (std::sqrt(s) * n.correction + n.epsilon);
  }
}

template <class T>
[[gnu::always_inline]] inline void sgd_loop(const SgdNumbers<T>& n, T* __restrict value,
                                            const T* __restrict gradient, T* __restrict buffer,
                                            std::int64_t count) {
  if (buffer == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) {
      value[i] -= n.rate * (gradient[i] * n.scale + n.penalty * value[i]);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] * n.scale + n.penalty * value[i];
    const T b = n.momentum * buffer[i] + g;
    buffer[i] = b;
    value[i] -= n.rate * (n.is_nesterov ? g + n.momentum * b : b);
  }
}

}  // namespace

TRIREME_WIDE void adam(const AdamNumbers<float>& n, float* value, const float* gradient,
                       float* mean, float* square, std::int64_t count) {
  adam_loop(n, value, gradient, mean, square, count);
}

TRIREME_WIDE void adam(const AdamNumbers<double>& n, double* value, const double* gradient,
                       double* mean, double* square, std::int64_t count) {
  adam_loop(n, value, gradient, mean, square, count);
}

TRIREME_WIDE void sgd(const SgdNumbers<float>& n, float* value, const float* gradient,
                      float* buffer, std::int64_t count) {
  sgd_loop(n, value, gradient, buffer, count);
}

TRIREME_WIDE void sgd(const SgdNumbers<double>& n, double* value, const double* gradient,
                      double* buffer, std::int64_t count) {
  sgd_loop(n, value, gradient, buffer, count);
}

}  // namespace trireme::optim::kernel
