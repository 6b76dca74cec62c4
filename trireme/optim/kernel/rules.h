// The arithmetic of the element-wise optimizers, on plain memory.
//
// Bits:          every element goes through the same operations, each rounded by itself, wherever a
//                slice begins and whatever the vector width of the machine. Updates of the same
//                elements are therefore bitwise identical for any slicing. (LibTorch's fused
//                kernels round the last few elements of a slice differently from the rest.) For
//                this reason this folder is compiled without contraction of products and sums.
// Cost:          one pass over value, gradient and state; limited by memory bandwidth.
// Thread safety: each call runs on the calling thread.

#pragma once

#include <cstdint>

namespace trireme::optim::kernel {

// Constants of one step; `decay` multiplies the value, `penalty` times the value is added to the
// gradient.
template <class T>
struct AdamNumbers {
  T scale = 1;    // multiplies the gradient
  T decay = 1;    // AdamW: value *= decay
  T penalty = 0;  // Adam: gradient += penalty * value
  T keep1 = 0;    // 1 - beta1
  T beta2 = 0;
  T keep2 = 0;       // 1 - beta2
  T step_size = 0;   // learning rate / (1 - beta1^step)
  T correction = 1;  // 1 / sqrt(1 - beta2^step)
  T epsilon = 0;
};

template <class T>
struct SgdNumbers {
  T scale = 1;
  T penalty = 0;
  T momentum = 0;
  T rate = 0;
  bool is_nesterov = false;
};

template <class T>
struct AdagradNumbers {
  T scale = 1;
  T penalty = 0;
  T rate = 0;
  T epsilon = 0;
};

template <class T>
struct RmspropNumbers {
  T scale = 1;
  T penalty = 0;
  T alpha = 0;
  T keep = 0;  // 1 - alpha
  T momentum = 0;
  T rate = 0;
  T epsilon = 0;
};

// The state of RMSprop; `mean` is null unless centered, `buffer` is null without momentum.
template <class T>
struct RmspropState {
  T* square = nullptr;
  T* mean = nullptr;
  T* buffer = nullptr;
};

template <class T>
struct LionNumbers {
  T scale = 1;
  T decay = 1;  // value *= decay
  T beta1 = 0;
  T keep1 = 0;  // 1 - beta1
  T beta2 = 0;
  T keep2 = 0;  // 1 - beta2
  T rate = 0;
};

void adam(const AdamNumbers<float>& n, float* value, const float* gradient, float* mean,
          float* square, std::int64_t count);
void adam(const AdamNumbers<double>& n, double* value, const double* gradient, double* mean,
          double* square, std::int64_t count);

// `buffer` may be null without momentum.
void sgd(const SgdNumbers<float>& n, float* value, const float* gradient, float* buffer,
         std::int64_t count);
void sgd(const SgdNumbers<double>& n, double* value, const double* gradient, double* buffer,
         std::int64_t count);

void adagrad(const AdagradNumbers<float>& n, float* value, const float* gradient, float* sum,
             std::int64_t count);
void adagrad(const AdagradNumbers<double>& n, double* value, const double* gradient, double* sum,
             std::int64_t count);

void rmsprop(const RmspropNumbers<float>& n, float* value, const float* gradient,
             const RmspropState<float>& state, std::int64_t count);
void rmsprop(const RmspropNumbers<double>& n, double* value, const double* gradient,
             const RmspropState<double>& state, std::int64_t count);

void lion(const LionNumbers<float>& n, float* value, const float* gradient, float* mean,
          std::int64_t count);
void lion(const LionNumbers<double>& n, double* value, const double* gradient, double* mean,
          std::int64_t count);

}  // namespace trireme::optim::kernel
