// The arithmetic of the element-wise optimizers: how one element and its state change. The same
// functions run in the loops of the CPU and in the kernels of a GPU.
//
// Bits:          every element goes through the same operations, each rounded by itself, wherever a
//                slice begins and whatever the vector width of the machine, on the CPU and on a
//                GPU. Updates of the same elements are therefore bitwise identical for any slicing.
//                (LibTorch's fused kernels round the last few elements of a slice differently from
//                the rest.) For this reason these files are compiled without contraction of
//                products and sums.
// Thread safety: values.

#pragma once

#include <cmath>

#include "trireme/device/device.h"

namespace trireme::optim::kernel {

// `decay` multiplies the value; `penalty` times the value is added to the gradient.
template <class T>
struct AdamUpdate {
  using Number = T;
  static constexpr int kStates = 2;

  T scale = 1;    // multiplies the gradient
  T decay = 1;    // AdamW: value *= decay
  T penalty = 0;  // Adam: gradient += penalty * value
  T keep1 = 0;    // 1 - beta1
  T beta2 = 0;
  T keep2 = 0;       // 1 - beta2
  T step_size = 0;   // learning rate / (1 - beta1^step)
  T correction = 1;  // 1 / sqrt(1 - beta2^step)
  T epsilon = 0;

  TRIREME_HOST_DEVICE void operator()(T& value, T gradient, T& mean, T& square) const {
    const T g = gradient * scale + penalty * value;
    mean = mean + keep1 * (g - mean);
    square = beta2 * square + keep2 * (g * g);
    value = value * decay - step_size * mean / (std::sqrt(square) * correction + epsilon);
  }
};

template <class T>
struct PlainSgd {
  using Number = T;
  static constexpr int kStates = 0;

  T scale = 1;
  T penalty = 0;
  T rate = 0;

  TRIREME_HOST_DEVICE void operator()(T& value, T gradient) const {
    value -= rate * (gradient * scale + penalty * value);
  }
};

template <class T>
struct SgdUpdate {
  using Number = T;
  static constexpr int kStates = 1;

  T scale = 1;
  T penalty = 0;
  T momentum = 0;
  T rate = 0;
  bool is_nesterov = false;

  TRIREME_HOST_DEVICE void operator()(T& value, T gradient, T& buffer) const {
    const T g = gradient * scale + penalty * value;
    buffer = momentum * buffer + g;
    value -= rate * (is_nesterov ? g + momentum * buffer : buffer);
  }
};

template <class T>
struct AdagradUpdate {
  using Number = T;
  static constexpr int kStates = 1;

  T scale = 1;
  T penalty = 0;
  T rate = 0;
  T epsilon = 0;

  TRIREME_HOST_DEVICE void operator()(T& value, T gradient, T& sum) const {
    const T g = gradient * scale + penalty * value;
    sum = sum + g * g;
    value -= rate * (g / (std::sqrt(sum) + epsilon));
  }
};

template <class T>
struct LionUpdate {
  using Number = T;
  static constexpr int kStates = 1;

  T scale = 1;
  T decay = 1;  // value *= decay
  T beta1 = 0;
  T keep1 = 0;  // 1 - beta1
  T beta2 = 0;
  T keep2 = 0;  // 1 - beta2
  T rate = 0;

  TRIREME_HOST_DEVICE void operator()(T& value, T gradient, T& mean) const {
    const T g = gradient * scale;
    const T c = beta1 * mean + keep1 * g;
    const T sign = static_cast<T>((c > 0) - (c < 0));
    mean = beta2 * mean + keep2 * g;
    value = value * decay - rate * sign;
  }
};

// Its state: the mean square, then the mean if it is centered, then the momentum if it has one.
template <class T, bool kIsCentered, bool kHasMomentum>
struct RmspropUpdate {
  using Number = T;
  static constexpr int kStates = 1 + kIsCentered + kHasMomentum;

  T scale = 1;
  T penalty = 0;
  T alpha = 0;
  T keep = 0;  // 1 - alpha
  T momentum = 0;
  T rate = 0;
  T epsilon = 0;

  template <class... More>
  TRIREME_HOST_DEVICE void operator()(T& value, T gradient, T& square, More&... more) const {
    const T g = gradient * scale + penalty * value;
    square = alpha * square + keep * (g * g);
    T variance = square;
    if constexpr (kIsCentered) {
      T& mean = first(more...);
      mean = mean + keep * (g - mean);
      // After rounding, a variance may be slightly negative.
      const T centered = square - mean * mean;
      variance = centered > 0 ? centered : T{0};
    }
    T move = g / (std::sqrt(variance) + epsilon);
    if constexpr (kHasMomentum) {
      T& buffer = last(more...);
      move = momentum * buffer + move;
      buffer = move;
    }
    value -= rate * move;
  }

 private:
  TRIREME_HOST_DEVICE static T& first(T& one) { return one; }
  TRIREME_HOST_DEVICE static T& first(T& one, T&) { return one; }
  TRIREME_HOST_DEVICE static T& last(T& one) { return one; }
  TRIREME_HOST_DEVICE static T& last(T&, T& two) { return two; }
};

// TRIREME_FOR_EACH_RULE(X) expands X for every rule and type, to instantiate functions for them.
// clang-format off
#define TRIREME_FOR_EACH_RULE_OF(X, T)                                    \
  X((AdamUpdate<T>)) X((PlainSgd<T>)) X((SgdUpdate<T>)) X((AdagradUpdate<T>)) X((LionUpdate<T>))  \
  X((RmspropUpdate<T, false, false>)) X((RmspropUpdate<T, false, true>))              \
  X((RmspropUpdate<T, true, false>)) X((RmspropUpdate<T, true, true>))
// clang-format on
#define TRIREME_FOR_EACH_RULE(X) \
  TRIREME_FOR_EACH_RULE_OF(X, float) TRIREME_FOR_EACH_RULE_OF(X, double)

}  // namespace trireme::optim::kernel
