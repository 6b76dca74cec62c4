#include "trireme/optim/kernel/rules.h"

#include <cmath>

// One loop, compiled for several vector widths; the best one for the machine is selected at run
// time.
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

template <class T>
[[gnu::always_inline]] inline void adagrad_loop(const AdagradNumbers<T>& n, T* __restrict value,
                                                const T* __restrict gradient, T* __restrict sum,
                                                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] * n.scale + n.penalty * value[i];
    const T s = sum[i] + g * g;
    sum[i] = s;
    value[i] -= n.rate * (g / (std::sqrt(s) + n.epsilon));
  }
}

// After rounding, a variance may be slightly negative.
template <class T>
[[gnu::always_inline]] inline T positive(T value) {
  return value > 0 ? value : T{0};
}

template <class T, bool kIsCentered, bool kHasMomentum>
[[gnu::always_inline]] inline void rmsprop_loop(const RmspropNumbers<T>& n, T* __restrict value,
                                                const T* __restrict gradient, T* __restrict square,
                                                T* __restrict mean, T* __restrict buffer,
                                                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] * n.scale + n.penalty * value[i];
    T s = n.alpha * square[i] + n.keep * (g * g);
    square[i] = s;
    if constexpr (kIsCentered) {
      const T m = mean[i] + n.keep * (g - mean[i]);
      mean[i] = m;
      s = positive(s - m * m);
    }
    T move = g / (std::sqrt(s) + n.epsilon);
    if constexpr (kHasMomentum) {
      move = n.momentum * buffer[i] + move;
      buffer[i] = move;
    }
    value[i] -= n.rate * move;
  }
}

template <class T>
[[gnu::always_inline]] inline void rmsprop_any(const RmspropNumbers<T>& n, T* value,
                                               const T* gradient, const RmspropState<T>& s,
                                               std::int64_t count) {
  if (s.mean != nullptr && s.buffer != nullptr) {
    rmsprop_loop<T, true, true>(n, value, gradient, s.square, s.mean, s.buffer, count);
  } else if (s.mean != nullptr) {
    rmsprop_loop<T, true, false>(n, value, gradient, s.square, s.mean, s.buffer, count);
  } else if (s.buffer != nullptr) {
    rmsprop_loop<T, false, true>(n, value, gradient, s.square, s.mean, s.buffer, count);
  } else {
    rmsprop_loop<T, false, false>(n, value, gradient, s.square, s.mean, s.buffer, count);
  }
}

template <class T>
[[gnu::always_inline]] inline void lion_loop(const LionNumbers<T>& n, T* __restrict value,
                                             const T* __restrict gradient, T* __restrict mean,
                                             std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] * n.scale;
    const T c = n.beta1 * mean[i] + n.keep1 * g;
    const T sign = static_cast<T>((c > 0) - (c < 0));
    mean[i] = n.beta2 * mean[i] + n.keep2 * g;
    value[i] = value[i] * n.decay - n.rate * sign;
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

TRIREME_WIDE void adagrad(const AdagradNumbers<float>& n, float* value, const float* gradient,
                          float* sum, std::int64_t count) {
  adagrad_loop(n, value, gradient, sum, count);
}

TRIREME_WIDE void adagrad(const AdagradNumbers<double>& n, double* value, const double* gradient,
                          double* sum, std::int64_t count) {
  adagrad_loop(n, value, gradient, sum, count);
}

TRIREME_WIDE void rmsprop(const RmspropNumbers<float>& n, float* value, const float* gradient,
                          const RmspropState<float>& state, std::int64_t count) {
  rmsprop_any(n, value, gradient, state, count);
}

TRIREME_WIDE void rmsprop(const RmspropNumbers<double>& n, double* value, const double* gradient,
                          const RmspropState<double>& state, std::int64_t count) {
  rmsprop_any(n, value, gradient, state, count);
}

TRIREME_WIDE void lion(const LionNumbers<float>& n, float* value, const float* gradient,
                       float* mean, std::int64_t count) {
  lion_loop(n, value, gradient, mean, count);
}

TRIREME_WIDE void lion(const LionNumbers<double>& n, double* value, const double* gradient,
                       double* mean, std::int64_t count) {
  lion_loop(n, value, gradient, mean, count);
}

}  // namespace trireme::optim::kernel
