#include "trireme/device/cuda/missing.h"
#include "trireme/model/layer/kernel/dropout.h"
#include "trireme/model/layer/kernel/fused.h"

namespace trireme::model::kernel {

void drop(const DropoutMask&, const DropoutRows&, const Stream&) {
  cuda::throw_missing("dropout");
}

bool has_fused() noexcept {
  return false;
}

void norm(const NormRows&, const Stream&) {
  cuda::throw_missing("norms");
}

void norm_gradient(const NormGradient&, const Stream&) {
  cuda::throw_missing("norms");
}

void column_sum(const void*, std::int64_t, std::int64_t, float*, float*, const Stream&) {
  cuda::throw_missing("sums");
}

void bias_gelu(const GeluRows&, const Stream&) {
  cuda::throw_missing("GELU");
}

void bias_gelu_gradient(const GeluRows&, const void*, void*, float*, float*, const Stream&) {
  cuda::throw_missing("GELU");
}

void join_three(const void* const[3], std::int64_t, std::int64_t, void*, const Stream&) {
  cuda::throw_missing("attention");
}

void entropy(const EntropyRows&, float*, const Stream&) {
  cuda::throw_missing("cross entropy");
}

void entropy_gradient(const EntropyRows&, const float*, void*, const Stream&) {
  cuda::throw_missing("cross entropy");
}

}  // namespace trireme::model::kernel
