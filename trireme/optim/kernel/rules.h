// The arithmetic of the element-wise rules, on plain memory.
//
// Bits:    every element goes through the same operations, each rounded by itself, wherever a slice
//          begins and however wide the machine's vectors are: an update of any cut of the same
//          elements gives the same bits. (LibTorch's fused kernels round a slice's last few
//          elements differently from the rest.) This folder is compiled without contraction of
//          products and sums for that reason.
// Cost:    one pass over value, gradient and state. Memory is the bound.
// Threads: each call runs on the calling thread.

#pragma once

#include <cstdint>

namespace trireme::optim::kernel {

// Numbers of one step; `decay` is a factor of the value, `penalty` of what is added to the
// gradient.
template <class T>
struct AdamNumbers {
  T scale = 1;    // of the gradient
  T decay = 1;    // AdamW: value *= decay
  T penalty = 0;  // Adam: gradient += penalty * value
  T keep1 = 0;    // 1 - beta1
  T beta2 = 0;
  T keep2 = 0;       // 1 - beta2
  T step_size = 0;   // rate / (1 - beta1^step)
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

// What RMSprop keeps; `mean` is null unless it is centered, `buffer` where there is no momentum.
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

// `buffer` may be null where there is no momentum.
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
